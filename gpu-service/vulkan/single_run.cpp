#include "gpu-service/vulkan/single_run.hpp"

#include <vector>

#include "gpu-service/vulkan/device.hpp"
#include "shared/injection.hpp"

namespace orrery::vulkan {
namespace {

// What one run needs, destroyed with it.
struct RunObjects {
  explicit RunObjects(VkDevice d) : device(d) {}
  RunObjects(const RunObjects&) = delete;
  RunObjects& operator=(const RunObjects&) = delete;
  ~RunObjects() {
    vkDestroyFence(device, fence, nullptr);
    vkDestroyCommandPool(device, commands, nullptr);
    vkDestroyDescriptorPool(device, descriptors, nullptr);
  }
  VkDevice device;
  VkDescriptorPool descriptors = VK_NULL_HANDLE;
  VkCommandPool commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
};

VkResult make_set(RunObjects& run, const ComputePipeline& pipeline, std::span<const BoundRange> buffers,
                  VkDescriptorSet& set) {
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, static_cast<uint32_t>(buffers.size())};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = 1;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  if (const VkResult r = vkCreateDescriptorPool(run.device, &pool, nullptr, &run.descriptors); r != VK_SUCCESS)
    return r;
  const VkDescriptorSetLayout layout = pipeline.set_layout();
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = run.descriptors;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout;
  if (const VkResult r = vkAllocateDescriptorSets(run.device, &allocate, &set); r != VK_SUCCESS) return r;
  std::vector<VkDescriptorBufferInfo> infos(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    infos[i] = {buffers[i].buffer->handle(), buffers[i].offset.value, buffers[i].size.value};
  }
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  for (size_t i = 0; i < infos.size(); ++i) {
    write.dstBinding = static_cast<uint32_t>(i);
    write.descriptorCount = 1;
    write.pBufferInfo = &infos[i];
    vkUpdateDescriptorSets(run.device, 1, &write, 0, nullptr);
  }
  return VK_SUCCESS;
}

}  // namespace

Result<void> run_single(const Device& device, const ComputePipeline& pipeline, std::span<const BoundRange> buffers,
                        std::span<const std::byte> push, std::array<uint32_t, 3> groups) {
  RunObjects run(device.handle());
  VkDescriptorSet set = VK_NULL_HANDLE;
  VkResult result = buffers.empty() ? VK_SUCCESS : make_set(run, pipeline, buffers, set);
  if (result != VK_SUCCESS) return device.error(result, "making a descriptor set");

  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = device.queue_family();
  result = vkCreateCommandPool(run.device, &pool, nullptr, &run.commands);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateCommandPool");
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = run.commands;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  result = vkAllocateCommandBuffers(run.device, &allocate, &commands);
  if (result != VK_SUCCESS) return device.error(result, "vkAllocateCommandBuffers");

  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  result = vkBeginCommandBuffer(commands, &begin);
  if (result != VK_SUCCESS) return device.error(result, "vkBeginCommandBuffer");
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
  if (set != VK_NULL_HANDLE) {
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0, 1, &set, 0, nullptr);
  }
  if (!push.empty()) {
    vkCmdPushConstants(commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<uint32_t>(push.size()),
                       push.data());
  }
  vkCmdDispatch(commands, groups[0], groups[1], groups[2]);
  VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                       nullptr, 0, nullptr);
  result = vkEndCommandBuffer(commands);
  if (result != VK_SUCCESS) return device.error(result, "vkEndCommandBuffer");

  VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  result = vkCreateFence(run.device, &fence, nullptr, &run.fence);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateFence");
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  result = vkQueueSubmit(device.queue(), 1, &submit, run.fence);
  if (injection::point("vkQueueSubmit-probe")) result = VK_ERROR_DEVICE_LOST;
  if (result == VK_SUCCESS) result = vkWaitForFences(run.device, 1, &run.fence, VK_TRUE, UINT64_MAX);
  if (injection::point("vkWaitForFences-probe")) result = VK_ERROR_DEVICE_LOST;
  if (result != VK_SUCCESS) return device.error(result, "running a dispatch");
  return {};
}

}  // namespace orrery::vulkan
