// The Vulkan instance, with validation on demand.
#pragma once

#include <vulkan/vulkan_core.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shared/error.hpp"

namespace orrery::vulkan {

struct InstanceOptions {
  std::vector<std::string> extensions;  // what the window system needs
  bool validation = false;              // VK_LAYER_KHRONOS_validation; its warnings and errors are logged and counted
};

class Instance {
 public:
  // Errors: no_device when no Vulkan driver is installed; usage when validation is asked for and the layer is absent,
  // or a wanted extension is.
  static Result<std::unique_ptr<Instance>> create(const InstanceOptions& options);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const { return handle_; }
  const std::vector<std::string>& window_extensions() const { return window_extensions_; }
  bool names_objects() const { return debug_utils_; }
  // Warnings and errors of the validation layer so far, and the first of them.
  uint64_t validation_messages() const { return messages_.load(); }
  std::vector<std::string> first_validation_messages() const;

 private:
  Instance() = default;
  static VkBool32 on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                             const VkDebugUtilsMessengerCallbackDataEXT* data, void* self);

  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  bool debug_utils_ = false;
  std::vector<std::string> window_extensions_;
  std::atomic<uint64_t> messages_{0};
  mutable std::mutex first_mutex_;
  std::vector<std::string> first_;
};

// ORRERY_VALIDATION is set and not 0.
bool validation_asked_for();

}  // namespace orrery::vulkan
