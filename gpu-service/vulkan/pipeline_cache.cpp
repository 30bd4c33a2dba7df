#include "gpu-service/vulkan/pipeline_cache.hpp"

#include <fmt/format.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/vulkan_result.hpp"
#include "shared/content_hash.hpp"
#include "shared/log.hpp"
#include "shared/plain_file.hpp"

namespace orrery::vulkan {
namespace {

constexpr uint64_t kMagic = 0x31435059'5252524f;  // "ORRRYPC1"
constexpr uint64_t kMostBytes = 512ull << 20;

// In front of the driver's bytes. The hash finds damage that a driver might not.
struct FileHeader {
  uint64_t magic = kMagic;
  uint64_t size = 0;
  ContentHash hash;
};

std::string file_name(const DeviceFacts& facts) {
  std::vector<std::byte> key;
  const auto add = [&](const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    key.insert(key.end(), bytes, bytes + size);
  };
  add(facts.device_uuid.data(), facts.device_uuid.size());
  add(facts.driver_uuid.data(), facts.driver_uuid.size());
  add(facts.pipeline_cache_uuid.data(), facts.pipeline_cache_uuid.size());
  add(&facts.driver_version, sizeof(facts.driver_version));
  add(facts.driver.data(), facts.driver.size());
  return "pipelines-" + hash_bytes(key).hex() + ".bin";
}

// The driver's bytes from the file, or nothing; says why in the log unless there is no file.
std::optional<std::vector<std::byte>> read_file(const std::string& path, const DeviceFacts& facts) {
  const PlainFile file = open_plain_file(path);
  if (!file.fd) return std::nullopt;
  FileHeader header;
  if (!file.plain || read_all(file.fd.get(), std::as_writable_bytes(std::span(&header, 1))) != sizeof(header) ||
      header.magic != kMagic || header.size > kMostBytes || header.size != file.size - sizeof(header)) {
    log::warn("pipeline cache {} is cut off or damaged; it is ignored", path);
    return std::nullopt;
  }
  std::vector<std::byte> bytes(header.size);
  if (read_all(file.fd.get(), bytes) != bytes.size() || hash_bytes(bytes) != header.hash) {
    log::warn("pipeline cache {} is damaged; it is ignored", path);
    return std::nullopt;
  }
  VkPipelineCacheHeaderVersionOne inner{};
  if (bytes.size() < sizeof(inner)) return std::nullopt;
  std::memcpy(&inner, bytes.data(), sizeof(inner));
  if (inner.vendorID != facts.vendor_id || inner.deviceID != facts.device_id ||
      std::memcmp(inner.pipelineCacheUUID, facts.pipeline_cache_uuid.data(), VK_UUID_SIZE) != 0) {
    log::warn("pipeline cache {} is another device's or driver's; it is ignored", path);
    return std::nullopt;
  }
  return bytes;
}

}  // namespace

std::string default_cache_directory() {
  // A relative XDG_CACHE_HOME is to be ignored (XDG base directory specification).
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::string(cache) + "/orrery";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/orrery";
  return {};
}

std::unique_ptr<DiskPipelineCache> DiskPipelineCache::load(const Device& device, const std::string& directory) {
  std::unique_ptr<DiskPipelineCache> cache(new DiskPipelineCache);
  cache->device_ = device.handle();
  std::optional<std::vector<std::byte>> bytes;
  if (!directory.empty()) {
    cache->path_ = directory + "/" + file_name(device.facts());
    bytes = read_file(cache->path_, device.facts());
  }
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  if (bytes) {
    info.initialDataSize = bytes->size();
    info.pInitialData = bytes->data();
  }
  VkResult result = vkCreatePipelineCache(cache->device_, &info, nullptr, &cache->handle_);
  cache->loaded_ = bytes && result == VK_SUCCESS;
  if (bytes && result != VK_SUCCESS) {
    log::warn("the driver refused pipeline cache {}; it is ignored", cache->path_);
    info.initialDataSize = 0;
    info.pInitialData = nullptr;
    result = vkCreatePipelineCache(cache->device_, &info, nullptr, &cache->handle_);
  }
  if (result != VK_SUCCESS) {
    log::warn("vkCreatePipelineCache: {}; pipelines are not cached", name_of(result));
    cache->handle_ = VK_NULL_HANDLE;
  }
  return cache;
}

Result<void> DiskPipelineCache::write() const {
  size_t size = 0;
  VkResult result = vkGetPipelineCacheData(device_, handle_, &size, nullptr);
  std::vector<std::byte> bytes(size);
  if (result == VK_SUCCESS) result = vkGetPipelineCacheData(device_, handle_, &size, bytes.data());
  ORRERY_TRY(checked(result, "vkGetPipelineCacheData"));
  bytes.resize(size);
  FileHeader header;
  header.size = bytes.size();
  header.hash = hash_bytes(bytes);

  if (!publish_file(path_, {std::as_bytes(std::span(&header, 1)), bytes})) {
    return fail(ExitCode::internal, "{}: {}", path_, std::strerror(errno));
  }
  return {};
}

void DiskPipelineCache::save() {
  if (!changed_ || failed_ || path_.empty() || handle_ == VK_NULL_HANDLE) return;
  changed_ = false;
  if (auto written = write(); !written) {
    failed_ = true;
    log::warn("the pipeline cache is not kept: {}", written.error().describe());
  }
}

DiskPipelineCache::~DiskPipelineCache() {
  save();
  if (handle_ != VK_NULL_HANDLE) vkDestroyPipelineCache(device_, handle_, nullptr);
}

}  // namespace orrery::vulkan
