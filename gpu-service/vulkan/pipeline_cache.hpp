// The driver's pipeline cache, kept on disk between lives: one file per device and driver, published by rename.
// A damaged, cut-off or foreign file is ignored with a log line.
#pragma once

#include <vulkan/vulkan_core.h>
#include <memory>
#include <string>

#include "shared/error.hpp"

namespace orrery::vulkan {

class Device;

// $XDG_CACHE_HOME/orrery, else $HOME/.cache/orrery, else empty: nothing is kept.
std::string default_cache_directory();

class DiskPipelineCache {
 public:
  // Never fails: without a usable file the cache starts empty.
  static std::unique_ptr<DiskPipelineCache> load(const Device& device, const std::string& directory);
  ~DiskPipelineCache();  // saves
  DiskPipelineCache(const DiskPipelineCache&) = delete;
  DiskPipelineCache& operator=(const DiskPipelineCache&) = delete;

  VkPipelineCache handle() const { return handle_; }
  const std::string& path() const { return path_; }  // empty: nothing is kept
  bool loaded() const { return loaded_; }            // a file was taken
  void mark_changed() { changed_ = true; }
  // Writes the file when pipelines were made since the last save. Failures are logged once: a cache is no one's duty.
  void save();

 private:
  DiskPipelineCache() = default;
  Result<void> write() const;

  VkDevice device_ = VK_NULL_HANDLE;
  VkPipelineCache handle_ = VK_NULL_HANDLE;
  std::string path_;
  bool loaded_ = false, changed_ = false, failed_ = false;
};

}  // namespace orrery::vulkan
