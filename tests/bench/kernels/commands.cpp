#include "gpu-service/dispatch/batch_ring.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "tests/bench/kernels/device_block.hpp"

namespace orrery::bench {

Result<std::unique_ptr<Commands>> Commands::create(const vulkan::Device& device) {
  std::unique_ptr<Commands> out(new Commands(device));
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = device.queue_family();
  VkResult result = vkCreateCommandPool(device.handle(), &pool, nullptr, &out->pool_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateCommandPool");
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = out->pool_;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  result = vkAllocateCommandBuffers(device.handle(), &allocate, &out->commands_);
  if (result != VK_SUCCESS) return device.error(result, "vkAllocateCommandBuffers");
  VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  result = vkCreateFence(device.handle(), &fence, nullptr, &out->fence_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateFence");
  VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = 2;
  result = vkCreateQueryPool(device.handle(), &queries, nullptr, &out->queries_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateQueryPool");
  return out;
}

Commands::~Commands() {
  vkDestroyQueryPool(device_.handle(), queries_, nullptr);
  vkDestroyFence(device_.handle(), fence_, nullptr);
  vkDestroyCommandPool(device_.handle(), pool_, nullptr);
}

Result<void> Commands::run(const std::function<void(VkCommandBuffer)>& record) {
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  VkResult result = vkBeginCommandBuffer(commands_, &begin);
  if (result != VK_SUCCESS) return device_.error(result, "vkBeginCommandBuffer");
  record(commands_);
  VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                       nullptr, 0, nullptr);
  result = vkEndCommandBuffer(commands_);
  if (result != VK_SUCCESS) return device_.error(result, "vkEndCommandBuffer");
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands_;
  result = vkQueueSubmit(device_.queue(), 1, &submit, fence_);
  if (result == VK_SUCCESS) result = vkWaitForFences(device_.handle(), 1, &fence_, VK_TRUE, UINT64_MAX);
  if (result == VK_SUCCESS) result = vkResetFences(device_.handle(), 1, &fence_);
  if (result != VK_SUCCESS) return device_.error(result, "running commands");
  return {};
}

Result<double> Commands::time(const std::function<void(VkCommandBuffer)>& before,
                              const std::function<void(VkCommandBuffer)>& record) {
  ORRERY_TRY(run([&](VkCommandBuffer commands) {
    vkCmdResetQueryPool(commands, queries_, 0, 2);
    before(commands);
    dispatch::full_barrier(commands);
    // The first is written when what is before has ended, the second when the rest has.
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 0);
    record(commands);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 1);
  }));
  std::array<uint64_t, 2> ticks{};
  const VkResult result = vkGetQueryPoolResults(device_.handle(), queries_, 0, 2, sizeof(ticks), ticks.data(), 8,
                                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
  if (result != VK_SUCCESS) return device_.error(result, "vkGetQueryPoolResults");
  return static_cast<double>(ticks[1] - ticks[0]) * device_.facts().timestamp_period_ns;
}

}  // namespace orrery::bench
