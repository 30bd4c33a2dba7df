// A pipeline with its bindings and push constants, ready to be recorded: a translated guest kernel or its GLSL twin.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/dispatch/launch_geometry.hpp"
#include "gpu-service/shader/translate.hpp"
#include "gpu-service/vulkan/buffer.hpp"
#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "shared/error.hpp"
#include "tests/bench/kernels/device_block.hpp"
#include "tests/bench/kernels/guest_region.hpp"

namespace orrery::bench {

class DeviceKernel {
 public:
  struct Part {
    std::array<uint32_t, 3> first{}, groups{};
  };
  struct Range {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0, size = 0;
  };
  explicit DeviceKernel(const vulkan::Device& device) : device_(device) {}
  ~DeviceKernel();
  DeviceKernel(const DeviceKernel&) = delete;
  DeviceKernel& operator=(const DeviceKernel&) = delete;

  // Compiles the pipeline, and takes the time.
  Result<void> compile(std::span<const uint32_t> spirv, uint32_t subgroup, std::span<const Range> buffers,
                       std::string_view name, std::span<const uint32_t> constants = {});
  // One dispatch of all parts.
  void record(VkCommandBuffer commands) const;

  std::string label;  // "k=1", "glsl", "native"
  std::vector<std::byte> push;
  size_t first_group_at = SIZE_MAX;  // where in `push` a part's first group goes; SIZE_MAX: nowhere
  std::vector<Part> parts;
  bool parts_in_turn = false;       // parts share private memory
  std::vector<vulkan::Buffer> own;  // bound infos, escape report, private memory
  const shader::EscapeReport* escapes = nullptr;
  double compile_ms = 0, translate_us = 0;
  size_t words = 0;
  uint32_t instructions = 0;  // of the guest; 0: a twin
  size_t bound_buffers = 0;
  bool page_table = false, scratch = false;

 private:
  const vulkan::Device& device_;
  vulkan::ComputePipeline pipeline_;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
};

// The guest's kernel through the translator in `layout`, its buffers bound as the service binds them, on the device as
// if it had so many bytes of workgroup memory. An error is a refusal, by name.
Result<std::unique_ptr<DeviceKernel>> translate_kernel(const vulkan::Device& device, const DeviceBlock& block,
                                                       const GuestRegion& region, const dispatch::DispatchState& state,
                                                       const shader::LaneLayout& layout,
                                                       std::optional<uint32_t> workgroup_memory = {});

// The kernel of glsl/NAME.comp: every buffer of the case is a binding, in order; the values are push constants.
Result<std::unique_ptr<DeviceKernel>> glsl_kernel(const vulkan::Device& device, const DeviceBlock& block,
                                                  const PreparedCase& prepared, const dispatch::DispatchState& state,
                                                  std::span<const uint32_t> spirv, std::string_view name);

}  // namespace orrery::bench
