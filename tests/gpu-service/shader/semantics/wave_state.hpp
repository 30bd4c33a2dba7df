// The registers that one instruction can see in these tests, and how they travel to a device and back.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::shader::semantics::test {

inline constexpr uint32_t kVgprs = 12;  // v0 .. v11; instructions write v8 .. v11
inline constexpr uint32_t kFirstWritten = 8;
inline constexpr uint32_t kSgprs = 20;  // s0 .. s19; instructions write s16 .. s19
inline constexpr uint32_t kFirstWrittenSgpr = 16;
inline constexpr uint32_t kScalarWords = 32;  // of a state: SGPRs, vcc, exec, m0, scc, padding

struct WaveState {
  uint32_t lanes = 32;
  std::array<std::vector<uint32_t>, kVgprs> vgprs;
  std::array<uint32_t, kSgprs> sgprs{};
  uint64_t vcc = 0, exec = 0;
  uint32_t m0 = 0;
  bool scc = false;
  friend bool operator==(const WaveState&, const WaveState&) = default;
};

}  // namespace orrery::shader::semantics::test
