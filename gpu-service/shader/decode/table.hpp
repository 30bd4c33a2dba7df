// The opcode table: one line per encoding and hardware opcode in opcodes/*.inc, looked up by encoding and number.
#pragma once

#include <array>
#include <cstdint>

#include "gpu-service/shader/decode/decoder.hpp"

namespace orrery::shader::table {

// What an operand field holds. The digit is the number of dwords.
enum class Slot : uint8_t {
  none,
  v1,
  v2,
  v3,
  v4,  // VGPRs only
  r1,
  r2,  // scalar registers in a VGPR-sized field (v_readlane's result)
  s1,
  s2,
  s4,
  s8,
  s16,  // scalar registers, no constants
  c1,
  c2,  // scalar source: register, constant or literal
  a1,
  a2,
  a4,    // any source: VGPR, scalar register, constant or literal
  h1,    // any source read as f16
  i1,    // any source read as a 16-bit integer
  k1,    // literal of v_madmk and its like; v_interp_mov's parameter
  mask,  // lane mask in scalar registers
  vcc,   // VCC as lane mask, in no field
  exec,  // EXEC as lane mask, in no field, not printed
};

constexpr unsigned slot_dwords(Slot slot) {
  switch (slot) {
    case Slot::v2:
    case Slot::r2:
    case Slot::s2:
    case Slot::c2:
    case Slot::a2:
    case Slot::mask:
    case Slot::vcc:
    case Slot::exec:
      return 2;
    case Slot::v3:
      return 3;
    case Slot::v4:
    case Slot::s4:
    case Slot::a4:
      return 4;
    case Slot::s8:
      return 8;
    case Slot::s16:
      return 16;
    default:
      return 1;
  }
}

namespace flags {
constexpr uint32_t negate(uint32_t sources) { return sources; }             // bits 0..2: source takes neg
constexpr uint32_t absolute(uint32_t sources) { return sources << 3; }      // bits 3..5: source takes abs
constexpr uint32_t op_sel(uint32_t bits) { return bits << 6; }              // bits 6..9: op_sel bits in use
constexpr uint32_t negate_high(uint32_t sources) { return sources << 10; }  // bits 10..12: VOP3P neg_hi
constexpr uint32_t clamp = 1u << 13, omod = 1u << 14;
constexpr uint32_t sdwa = 1u << 15, sdwa_float = 1u << 16, sdwa_int = 1u << 17;  // float: neg/abs; int: sext
constexpr uint32_t dpp = 1u << 18, dpp_neg = 1u << 19, dpp8 = 1u << 20;
constexpr uint32_t interp = 1u << 21;
constexpr uint32_t source1_int = 1u << 27;  // SDWA and DPP: no neg/abs on the second source, SDWA sext instead
constexpr uint32_t imm = 1u << 22, branch = 1u << 23;                 // SOPP: SIMM16 in use
constexpr uint32_t glc = 1u << 24, dlc = 1u << 25, probe = 1u << 26;  // SMEM
constexpr uint32_t two_offsets = 1u << 22, gds_only = 1u << 23, no_gds = 1u << 24, no_offset = 1u << 25;  // DS
constexpr uint32_t lds = 1u << 22, tfe = 1u << 23, atomic = 1u << 24;  // MUBUF, MTBUF, FLAT
constexpr uint32_t sampler = 1u << 22, bvh = 1u << 23;                 // MIMG
}  // namespace flags

struct Entry {
  Opcode opcode = Opcode::invalid;
  // Vector and scalar ALU: results and sources. Memory: destination is the returned data; sources are
  // DS address, data, data2; FLAT address, data; MUBUF/MTBUF data; SMEM base.
  Slot destination = Slot::none;
  Slot destination2 = Slot::none;
  std::array<Slot, 3> sources{};
  uint32_t flags = 0;
};

// The line for a hardware opcode, or nullptr when the target has none.
const Entry* find(Format format, uint32_t number, Target target);

}  // namespace orrery::shader::table
