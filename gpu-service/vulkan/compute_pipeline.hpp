// Compute pipelines of the module ABI (shader/translate.hpp): set 0 holds storage buffers 0..n-1, 128 bytes of push
// constants.
#pragma once

#include <vulkan/vulkan_core.h>
#include <span>
#include <string_view>

#include "shared/error.hpp"

namespace orrery::vulkan {

class Device;

inline constexpr uint32_t kPushConstantBytes = 128;

struct PipelineRequest {
  std::span<const uint32_t> spirv;
  uint32_t buffers = 0;   // storage buffers of set 0
  uint32_t subgroup = 0;  // required width, with full subgroups; 0: whatever the driver takes
  std::string_view name;
  std::span<const uint32_t> constants = {};  // specialization constants 0..n-1
};

class ComputePipeline {
 public:
  ComputePipeline() = default;
  // The caller has checked `buffers` against facts().max_storage_buffers and `subgroup` against the widths.
  static Result<ComputePipeline> create(const Device& device, const PipelineRequest& request);
  ComputePipeline(ComputePipeline&& other) noexcept { *this = std::move(other); }
  ComputePipeline& operator=(ComputePipeline&& other) noexcept;
  ComputePipeline(const ComputePipeline&) = delete;
  ComputePipeline& operator=(const ComputePipeline&) = delete;
  ~ComputePipeline() { reset(); }

  VkPipeline handle() const { return pipeline_; }
  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }  // null when there are no buffers

 private:
  void reset();

  VkDevice device_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
};

}  // namespace orrery::vulkan
