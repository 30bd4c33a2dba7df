// PM4 type-3 packet headers and register spaces (AMD public headers; guest-abi facts, section 4.2).
#pragma once

#include <cstdint>

namespace orrery::command {

// Dword index of the first register of each bank.
inline constexpr uint32_t kShBase = 0x2C00, kContextBase = 0xA000, kUconfigBase = 0xC000;

// SH registers that a dispatch reads (gc_10_3_0).
namespace sh {
inline constexpr uint32_t kComputeStartX = 0x2E04 - kShBase;
inline constexpr uint32_t kComputeNumThreadX = 0x2E07 - kShBase;
inline constexpr uint32_t kComputePgmLo = 0x2E0C - kShBase;
inline constexpr uint32_t kComputePgmRsrc1 = 0x2E12 - kShBase;
inline constexpr uint32_t kComputeTmpringSize = 0x2E18 - kShBase;
inline constexpr uint32_t kComputePgmRsrc3 = 0x2E28 - kShBase;
inline constexpr uint32_t kComputeUserData0 = 0x2E40 - kShBase;
}  // namespace sh

namespace uconfig {
inline constexpr uint32_t kThreadTraceUserdata2 = 0x342;  // SQ_THREAD_TRACE_USERDATA_2/3: debugging markers
inline constexpr uint32_t kThreadTraceUserdata3 = 0x343;
inline constexpr uint32_t kVgtIndexType = 0x243;
}  // namespace uconfig

inline constexpr uint32_t kOpcodeNop = 0x10;

struct PacketHeader {
  uint32_t type = 0;         // bits 31:30
  uint32_t opcode = 0;       // bits 15:8
  uint32_t body_dwords = 0;  // bits 29:16, plus 1; 0 for the one-dword filler
  uint32_t total_dwords() const { return body_dwords + 1; }
};

// The filler NOP (count 0x3fff) is one dword long; every other type-3 packet has at least one body dword.
constexpr PacketHeader decode_header(uint32_t dword) {
  PacketHeader header{dword >> 30, dword >> 8 & 0xff, (dword >> 16 & 0x3fff) + 1};
  if (header.type == 3 && header.opcode == kOpcodeNop && (dword >> 16 & 0x3fff) == 0x3fff) header.body_dwords = 0;
  return header;
}

constexpr uint64_t address_of(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

}  // namespace orrery::command
