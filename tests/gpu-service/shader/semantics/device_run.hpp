// Runs single instructions on a Vulkan device, each on many waves' states: semantics, passes and emission in one.
#pragma once

#include <span>
#include <string>

#include "gpu-service/shader/ir/semantic.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "tests/gpu-service/shader/semantics/wave_state.hpp"

namespace orrery::shader::semantics::test {

struct DeviceRun {
  std::vector<std::vector<WaveState>> after;  // [instruction][state]
  std::string error;                          // refusals, validation, the device
};

// Denormals kept, to nearest even, DX10 clamp.
inline constexpr uint32_t kUsualMode = 0x1f0;

// Every instruction starts from every state, with MODE as given. `subgroup`: of the host; the wave's lanes are spread
// accordingly.
DeviceRun run_on_device(const vulkan::Device& device, std::span<const Instruction> instructions,
                        std::span<const WaveState> states, uint32_t subgroup, uint32_t mode = kUsualMode);

}  // namespace orrery::shader::semantics::test
