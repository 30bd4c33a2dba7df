#include "gpu-service/vulkan/compute_pipeline.hpp"

#include <utility>
#include <vector>

#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/pipeline_cache.hpp"

namespace orrery::vulkan {

Result<ComputePipeline> ComputePipeline::create(const Device& device, const PipelineRequest& request) {
  ComputePipeline out;
  out.device_ = device.handle();
  if (request.buffers > 0) {
    std::vector<VkDescriptorSetLayoutBinding> bindings(request.buffers);
    for (uint32_t i = 0; i < request.buffers; ++i) {
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    }
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = request.buffers;
    info.pBindings = bindings.data();
    const VkResult result = vkCreateDescriptorSetLayout(out.device_, &info, nullptr, &out.set_layout_);
    if (result != VK_SUCCESS) return device.error(result, "vkCreateDescriptorSetLayout");
  }
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushConstantBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = request.buffers > 0 ? 1 : 0;
  layout.pSetLayouts = &out.set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  VkResult result = vkCreatePipelineLayout(out.device_, &layout, nullptr, &out.layout_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreatePipelineLayout");

  VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  code.codeSize = request.spirv.size_bytes();
  code.pCode = request.spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  result = vkCreateShaderModule(out.device_, &code, nullptr, &module);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateShaderModule");

  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo width{
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
  width.requiredSubgroupSize = request.subgroup;
  std::vector<VkSpecializationMapEntry> entries(request.constants.size());
  for (uint32_t i = 0; i < entries.size(); ++i) entries[i] = {i, i * 4, 4};
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(),
                                            request.constants.size_bytes(), request.constants.data()};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  if (!entries.empty()) info.stage.pSpecializationInfo = &specialization;
  if (request.subgroup != 0) {
    info.stage.pNext = &width;
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  info.layout = out.layout_;
  result = vkCreateComputePipelines(out.device_, device.pipeline_cache().handle(), 1, &info, nullptr, &out.pipeline_);
  vkDestroyShaderModule(out.device_, module, nullptr);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateComputePipelines");
  device.pipeline_cache().mark_changed();
  device.name(VK_OBJECT_TYPE_PIPELINE, reinterpret_cast<uint64_t>(out.pipeline_), request.name);
  return out;
}

ComputePipeline& ComputePipeline::operator=(ComputePipeline&& other) noexcept {
  if (this != &other) {
    reset();
    device_ = std::exchange(other.device_, VK_NULL_HANDLE);
    pipeline_ = std::exchange(other.pipeline_, VK_NULL_HANDLE);
    layout_ = std::exchange(other.layout_, VK_NULL_HANDLE);
    set_layout_ = std::exchange(other.set_layout_, VK_NULL_HANDLE);
  }
  return *this;
}

void ComputePipeline::reset() {
  if (device_ == VK_NULL_HANDLE) return;
  vkDestroyPipeline(device_, pipeline_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
  device_ = VK_NULL_HANDLE;
}

}  // namespace orrery::vulkan
