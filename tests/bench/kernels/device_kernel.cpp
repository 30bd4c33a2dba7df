#include "tests/bench/kernels/device_kernel.hpp"

#include <chrono>
#include <cstring>

#include "gpu-service/dispatch/batch_ring.hpp"
#include "gpu-service/vulkan/device.hpp"

namespace orrery::bench {

DeviceKernel::~DeviceKernel() { vkDestroyDescriptorPool(device_.handle(), pool_, nullptr); }

Result<void> DeviceKernel::compile(std::span<const uint32_t> spirv, uint32_t subgroup, std::span<const Range> buffers,
                                   std::string_view name, std::span<const uint32_t> constants) {
  const auto count = static_cast<uint32_t>(buffers.size());
  const auto start = std::chrono::steady_clock::now();
  auto made = vulkan::ComputePipeline::create(device_, {spirv, count, subgroup, name, constants});
  if (!made) return std::unexpected(std::move(made.error()));
  compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  pipeline_ = std::move(*made);
  words = spirv.size();
  if (count == 0) return {};
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = 1;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  VkResult result = vkCreateDescriptorPool(device_.handle(), &pool, nullptr, &pool_);
  if (result != VK_SUCCESS) return device_.error(result, "vkCreateDescriptorPool");
  const VkDescriptorSetLayout layout = pipeline_.set_layout();
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = pool_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout;
  result = vkAllocateDescriptorSets(device_.handle(), &allocate, &set_);
  if (result != VK_SUCCESS) return device_.error(result, "vkAllocateDescriptorSets");
  for (uint32_t i = 0; i < count; ++i) {
    const VkDescriptorBufferInfo info{buffers[i].buffer, buffers[i].offset, buffers[i].size};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set_;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &info;
    vkUpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
  }
  return {};
}

void DeviceKernel::record(VkCommandBuffer commands) const {
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_.handle());
  if (set_ != VK_NULL_HANDLE) {
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_.layout(), 0, 1, &set_, 0, nullptr);
  }
  auto constants = push;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && parts_in_turn) dispatch::full_barrier(commands);
    if (first_group_at != SIZE_MAX) std::memcpy(constants.data() + first_group_at, parts[i].first.data(), 12);
    vkCmdPushConstants(commands, pipeline_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       static_cast<uint32_t>(constants.size()), constants.data());
    vkCmdDispatch(commands, parts[i].groups[0], parts[i].groups[1], parts[i].groups[2]);
  }
}

Result<std::unique_ptr<DeviceKernel>> glsl_kernel(const vulkan::Device& device, const DeviceBlock& block,
                                                  const PreparedCase& prepared, const dispatch::DispatchState& state,
                                                  std::span<const uint32_t> spirv, std::string_view name) {
  auto out = std::make_unique<DeviceKernel>(device);
  // glsl/twin.glsl: eight values, then what leads from a guest address to the device's.
  struct Push {
    std::array<uint32_t, 8> values{};
    uint64_t delta = 0;
    uint32_t threads = 0, unused = 0;
  } push;
  size_t values = 0;
  std::vector<DeviceKernel::Range> ranges;
  for (int i = 0; i < prepared.count; ++i) {
    const argument& a = prepared.arguments[static_cast<size_t>(i)];
    if (a.use == USE_VALUE || a.use == USE_SAMPLER) {
      push.values.at(values++) = a.value;
    } else {
      ranges.push_back({block.work().handle(), prepared.layout.offset[i], align_up(prepared.layout.bytes[i], 4)});
      if (ranges.back().size > device.facts().max_storage_range) {
        return fail(ExitCode::internal, "{}: {} bytes are more than one binding shows", name, ranges.back().size);
      }
    }
  }
  push.delta = block.work().address().value - GuestRegion::kAddress;
  const auto geometry = dispatch::launch_geometry(state);
  if (!geometry) return fail(ExitCode::internal, "{}", geometry.error());
  out->parts.push_back({{}, geometry->count});
  for (size_t i = 0; i < 3; ++i) {
    if (geometry->count[i] > device.facts().max_groups[i])
      return fail(ExitCode::internal, "{}: {} groups", name, geometry->count[i]);
  }
  push.threads = geometry->threads[0] != 0 ? geometry->threads[0] : UINT32_MAX;
  out->push.resize(sizeof(push));
  std::memcpy(out->push.data(), &push, sizeof(push));
  ORRERY_TRY(out->compile(spirv, 0, ranges, name));
  return out;
}

}  // namespace orrery::bench
