// Runs one compute dispatch and waits: for probes and tests, not for guest work.
#pragma once

#include <array>
#include <span>

#include "gpu-service/vulkan/buffer.hpp"
#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "shared/error.hpp"

namespace orrery::vulkan {

class Device;

struct BoundRange {
  const Buffer* buffer = nullptr;
  Bytes offset, size;
};

// Binds the ranges as storage buffers 0.., sets the push constants (at most 128 bytes, a multiple of 4), dispatches
// `groups` and waits. Afterwards the host sees all writes.
Result<void> run_single(const Device& device, const ComputePipeline& pipeline, std::span<const BoundRange> buffers,
                        std::span<const std::byte> push, std::array<uint32_t, 3> groups);

}  // namespace orrery::vulkan
