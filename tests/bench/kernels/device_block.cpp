#include "tests/bench/kernels/device_block.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstring>

#include "gpu-service/dispatch/batch_ring.hpp"
#include "gpu-service/shader/page_table_window.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "tests/bench/kernels/guest_region.hpp"

namespace orrery::bench {
namespace {

constexpr uint64_t kStaging = 64 << 20;

Result<void> put(vulkan::Buffer& to, Result<vulkan::Buffer> made) {
  if (!made) return std::unexpected(std::move(made.error()));
  to = std::move(*made);
  return {};
}

}  // namespace

Result<std::unique_ptr<DeviceBlock>> DeviceBlock::create(const vulkan::Device& device, Commands& commands,
                                                         uint64_t size, MemoryPlace place) {
  using vulkan::Buffer, vulkan::BufferPlace;
  std::unique_ptr<DeviceBlock> block(new DeviceBlock(device, commands));
  ORRERY_TRY(put(block->pristine_, Buffer::create(device, {size}, BufferPlace::device, "pristine")));
  ORRERY_TRY(put(block->staging_, Buffer::create(device, {std::min(size, kStaging)}, BufferPlace::shared, "staging")));
  if (place == MemoryPlace::device) {
    ORRERY_TRY(put(block->work_, Buffer::create(device, {size}, BufferPlace::device, "work")));
  } else {
    void* const host = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (host == MAP_FAILED) return fail(ExitCode::internal, "{} bytes can't be mapped", size);
    block->host_ = {static_cast<std::byte*>(host), size};
    ORRERY_TRY(put(block->work_, Buffer::import_host(device, block->host_, "work")));
  }
  ORRERY_TRY(block->make_page_table());
  return block;
}

DeviceBlock::~DeviceBlock() {
  work_ = {};
  if (!host_.empty()) munmap(host_.data(), host_.size());
}

Result<void> DeviceBlock::make_page_table() {
  using vulkan::Buffer, vulkan::BufferPlace;
  constexpr uint64_t kLevel1 = shader::kLevel1Entries;
  constexpr uint64_t kLevel2 = 1ull << (shader::kLevel1Shift - shader::kPageBits);
  const uint64_t pages = work_.size().value >> shader::kPageBits;
  const uint64_t tables = (pages + kLevel2 - 1) / kLevel2;
  // As the service places them (gpu-service/dispatch/device_page_table.cpp).
  ORRERY_TRY(put(level1_, Buffer::create(device_, {kLevel1 * 8 + sizeof(shader::PageTableWindow)}, BufferPlace::upload,
                                         "page table level 1")));
  ORRERY_TRY(put(level2_, Buffer::create(device_, {tables * kLevel2 * sizeof(shader::PageEntry)}, BufferPlace::upload,
                                         "page table level 2")));
  std::vector<uint64_t> first(kLevel1);
  std::vector<shader::PageEntry> second(tables * kLevel2);
  for (uint64_t i = 0; i < tables; ++i) {
    first[(GuestRegion::kAddress >> shader::kLevel1Shift) + i] =
        level2_.address().value + i * kLevel2 * sizeof(shader::PageEntry);
  }
  for (uint64_t i = 0; i < pages; ++i) {
    const uint64_t address = work_.address().value + (i << shader::kPageBits);
    second[i] = {address, address};
  }
  std::memcpy(level1_.mapped().data(), first.data(), first.size() * 8);
  const shader::PageTableWindow window{GuestRegion::kAddress, pages << shader::kPageBits,
                                       work_.address().value - GuestRegion::kAddress};
  std::memcpy(level1_.mapped().data() + kLevel1 * 8, &window, sizeof(window));
  std::memcpy(level2_.mapped().data(), second.data(), second.size() * sizeof(shader::PageEntry));
  return {};
}

Result<void> DeviceBlock::upload(std::span<const std::byte> bytes) {
  for (uint64_t at = 0; at < bytes.size(); at += kStaging) {
    const uint64_t size = std::min(kStaging, bytes.size() - at);
    std::memcpy(staging_.mapped().data(), bytes.data() + at, size);
    ORRERY_TRY(commands_.run([&](VkCommandBuffer commands) {
      const VkBufferCopy copy{0, at, size};
      vkCmdCopyBuffer(commands, staging_.handle(), pristine_.handle(), 1, &copy);
    }));
  }
  return {};
}

Result<void> DeviceBlock::download(std::span<std::byte> out) {
  for (uint64_t at = 0; at < out.size(); at += kStaging) {
    const uint64_t size = std::min(kStaging, out.size() - at);
    ORRERY_TRY(commands_.run([&](VkCommandBuffer commands) {
      const VkBufferCopy copy{at, 0, size};
      vkCmdCopyBuffer(commands, work_.handle(), staging_.handle(), 1, &copy);
    }));
    std::memcpy(out.data() + at, staging_.mapped().data(), size);
  }
  return {};
}

void DeviceBlock::restore(VkCommandBuffer commands) const {
  dispatch::full_barrier(commands);
  const VkBufferCopy copy{0, 0, pristine_.size().value};
  vkCmdCopyBuffer(commands, pristine_.handle(), work_.handle(), 1, &copy);
  dispatch::full_barrier(commands);
}

}  // namespace orrery::bench
