// State of one wave and of its group while they run.
#pragma once

#include <cstring>

#include "gpu-service/shader/interpret/interpreter.hpp"

namespace orrery::shader::interpret {

inline constexpr uint32_t kVcc = 106, kM0 = 124, kNull = 125, kExec = 126;
inline constexpr uint32_t kMaxLanes = 64;
// High halves of the flat address apertures (what the Linux driver sets up), and where private memory lies for
// addresses.
inline constexpr uint64_t kSharedAperture = 0x0001'0000'0000'0000, kPrivateAperture = 0x0002'0000'0000'0000;
inline constexpr uint64_t kScratchBase = 0x0000'f000'0000'0000;

struct Step;
class Engine;

// What the waves of one group share.
struct Group {
  std::vector<std::byte> lds;
  std::vector<std::byte> scratch;  // all waves' private memory, at kScratchBase
};

enum class Stop : uint8_t { none, barrier, ended, refused };

struct Wave {
  uint32_t lanes = 32;
  uint32_t next = 0;  // index of the next step
  Stop stop = Stop::none;
  bool scc = false;
  uint32_t mode = 0;  // hwreg MODE
  uint64_t flat_scratch = 0;
  std::array<uint32_t, 128> sgpr{};  // hardware numbering; [kNull] stays 0
  std::vector<uint32_t> vgprs;       // row per register, `lanes` wide
  // Lanes that the DPP or bound rules of the current instruction let through.
  uint64_t write_lanes = ~0ull;
  Group* group = nullptr;
  GuestBytes* memory = nullptr;
  Outcome* outcome = nullptr;
  const Dispatch* dispatch = nullptr;
  Engine* engine = nullptr;
  uint32_t index_in_group = 0;
  uint32_t waves_in_group = 1;

  uint64_t lane_bits() const { return lanes == 64 ? ~0ull : 0xffffffffull; }
  uint64_t exec() const { return pair(kExec) & lane_bits(); }
  uint64_t pair(uint32_t index) const { return sgpr[index] | uint64_t{sgpr[index + 1]} << 32; }
  // A lane mask in scalar registers, as wide as the wave.
  uint64_t mask(uint32_t index) const { return lanes == 32 || index == kNull ? sgpr[index] : pair(index & ~1u); }
  void set(uint32_t index, uint32_t value) {
    if (index != kNull) {
      sgpr[index] = value;
    }
  }
  void set_pair(uint32_t index, uint64_t value) {
    if (index != kNull) {
      sgpr[index] = static_cast<uint32_t>(value);
      sgpr[index + 1] = static_cast<uint32_t>(value >> 32);
    }
  }
  void set_mask(uint32_t index, uint64_t value) {
    if (lanes == 32) {
      set(index, static_cast<uint32_t>(value));
    } else {
      set_pair(index & ~1u, value);
    }
  }
  uint32_t* row(uint32_t vgpr) { return vgprs.data() + size_t{vgpr} * lanes; }

  void refuse(const Step& step, std::string reason);
  // Guest memory, private memory behind kScratchBase included. Escapes are counted; loads then give 0.
  void load(const Step& step, uint64_t address, std::span<std::byte> out);
  void store(const Step& step, uint64_t address, std::span<const std::byte> bytes);
  uint32_t load32(const Step& step, uint64_t address) {
    uint32_t value = 0;
    load(step, address, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
};

}  // namespace orrery::shader::interpret
