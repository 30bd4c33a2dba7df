// Register contents for tests: edge cases of integers and floats between random bits.
#pragma once

#include <random>

#include "tests/gpu-service/shader/semantics/wave_state.hpp"

namespace orrery::shader::semantics::test {

// What the VGPRs hold mostly; 64-bit kinds fill pairs (v2, v3), (v4, v5), ...
enum class Values : uint8_t { bits, f16, f32, f64 };

WaveState random_state(std::mt19937& random, uint32_t lanes, Values values);
std::vector<WaveState> random_states(uint32_t seed, uint32_t count, uint32_t lanes, Values values);

}  // namespace orrery::shader::semantics::test
