// What an instruction should do, as a host function over a wave's state, and the comparison with the device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/gpu-service/shader/semantics/state_values.hpp"

namespace orrery::vulkan {
class Device;
}

namespace orrery::shader::semantics::test {

// How results are compared: bits, or as floats, where NaN equals NaN and a tolerance in units of the last place holds.
struct Comparison {
  enum class As : uint8_t { bits, f16, packed_f16, f32, f64 } as = As::bits;
  uint32_t ulp = 0;
};

// The first difference in what instructions may write, with the inputs; empty when there is none.
std::string difference(Comparison comparison, const WaveState& before, const WaveState& want, const WaveState& got);

// The device all tests of a program share; nullptr (and a failure) when it does not open.
vulkan::Device* test_device();

struct Expectation {
  std::string line;  // as assemble() takes it
  std::function<void(WaveState&)> expected;
  Comparison comparison;
};

// Runs every line on `count` random states in wave32 and wave64 and reports the first differences.
void check(const std::vector<Expectation>& expectations, Values values, uint32_t count = 12);

inline bool lane_on(uint64_t mask, uint32_t lane) { return (mask >> lane & 1) != 0; }
inline uint64_t wave_bits(const WaveState& s) { return s.lanes == 32 ? 0xffffffffull : ~0ull; }

// v8 = f(v1, v2, v3) on active lanes.
template <class F>
std::function<void(WaveState&)> each_lane(F f) {
  return [f](WaveState& s) {
    for (uint32_t l = 0; l < s.lanes; ++l) {
      if (lane_on(s.exec, l)) s.vgprs[8][l] = f(s.vgprs[1][l], s.vgprs[2][l], s.vgprs[3][l]);
    }
  };
}
inline uint64_t wide(const WaveState& s, uint32_t vgpr, uint32_t lane) {
  return s.vgprs[vgpr][lane] | uint64_t{s.vgprs[vgpr + 1][lane]} << 32;
}
inline void set_wide(WaveState& s, uint32_t vgpr, uint32_t lane, uint64_t v) {
  s.vgprs[vgpr][lane] = static_cast<uint32_t>(v);
  s.vgprs[vgpr + 1][lane] = static_cast<uint32_t>(v >> 32);
}
// v[8:9] = f(v[2:3], v[4:5], v[6:7]).
template <class F>
std::function<void(WaveState&)> each_lane_wide(F f) {
  return [f](WaveState& s) {
    for (uint32_t l = 0; l < s.lanes; ++l) {
      if (lane_on(s.exec, l)) set_wide(s, 8, l, f(wide(s, 2, l), wide(s, 4, l), wide(s, 6, l)));
    }
  };
}
inline void set_mask(WaveState& s, uint32_t sgpr, uint64_t mask) {
  s.sgprs[sgpr] = static_cast<uint32_t>(mask);
  if (s.lanes == 64) s.sgprs[sgpr + 1] = static_cast<uint32_t>(mask >> 32);
}
// {m} (s16) = lanes where f(v1, v2) holds.
template <class F>
std::function<void(WaveState&)> compare_lanes(F f) {
  return [f](WaveState& s) {
    uint64_t mask = 0;
    for (uint32_t l = 0; l < s.lanes; ++l) {
      if (lane_on(s.exec, l) && f(s.vgprs[1][l], s.vgprs[2][l])) mask |= 1ull << l;
    }
    set_mask(s, 16, mask);
  };
}
// s16 = f(s1, s2, scc by reference).
template <class F>
std::function<void(WaveState&)> scalar(F f) {
  return [f](WaveState& s) { s.sgprs[16] = f(s.sgprs[1], s.sgprs[2], s.scc); };
}
// s[16:17] = f(s[2:3], s[4:5], scc).
template <class F>
std::function<void(WaveState&)> scalar_wide(F f) {
  return [f](WaveState& s) {
    const uint64_t x = s.sgprs[2] | uint64_t{s.sgprs[3]} << 32, y = s.sgprs[4] | uint64_t{s.sgprs[5]} << 32;
    const uint64_t d = f(x, y, s.scc);
    s.sgprs[16] = static_cast<uint32_t>(d);
    s.sgprs[17] = static_cast<uint32_t>(d >> 32);
  };
}

}  // namespace orrery::shader::semantics::test
