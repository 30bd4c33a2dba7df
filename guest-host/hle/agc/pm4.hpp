// PM4 type-3 headers as the builders write them (opcodes: AMD's public headers; bit 2 marks AGC's own marker packets).
#pragma once

#include <cstdint>
#include <vector>

namespace orrery::hle::agc {

using Words = std::vector<uint32_t>;

enum class Opcode : uint32_t {
  nop = 0x10,
  set_base = 0x11,
  index_buffer_size = 0x13,
  dispatch_direct = 0x15,
  dispatch_indirect = 0x16,
  draw_indirect = 0x24,
  draw_index_indirect = 0x25,
  index_base = 0x26,
  draw_index_2 = 0x27,
  draw_index_auto = 0x2D,
  num_instances = 0x2F,
  write_data = 0x37,
  wait_reg_mem = 0x3C,
  indirect_buffer = 0x3F,
  event_write = 0x46,
  release_mem = 0x49,
  dma_data = 0x50,
  acquire_mem = 0x58,
  set_sh_registers_indirect = 0x63,
  set_uc_registers_indirect = 0x64,
  set_context_reg = 0x69,
  set_sh_reg = 0x76,
  set_uconfig_reg = 0x79,
  set_uconfig_reg_index = 0x7A,
  wait_reg_mem_64 = 0x93,
  set_cx_registers_indirect = 0x9F,
};

// The one-dword filler (measured on hardware).
inline constexpr uint32_t kFiller = 0xffff1000;
// Set in the header of marker packets and of the flip's WRITE_DATA (measured).
inline constexpr uint32_t kMarkerBit = 0x4;
// The thread-trace register that marker packets write (uconfig offset); its values mean nothing to the GPU.
inline constexpr uint32_t kMarkerRegister = 0x342;
// Largest body of one packet, in dwords.
inline constexpr uint32_t kMaxBody = 0x3fff;

constexpr uint32_t header(Opcode opcode, uint32_t body_dwords) {
  return 0xC0000000u | ((body_dwords - 1) & 0x3fff) << 16 | static_cast<uint32_t>(opcode) << 8;
}
constexpr Opcode opcode_of(uint32_t header) { return static_cast<Opcode>(header >> 8 & 0xff); }
constexpr uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace orrery::hle::agc
