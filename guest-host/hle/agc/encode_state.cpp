#include "guest-host/hle/agc/encode_state.hpp"

namespace orrery::hle::agc {

Words nop(uint32_t dwords) { return Words(dwords, kFiller); }

Words set_register_direct(Opcode bank, uint64_t value_and_offset) {
  return {header(bank, 2), low(value_and_offset), high(value_and_offset)};
}

Words set_sh_register_range(uint32_t offset, uint32_t count) { return {header(Opcode::set_sh_reg, 1 + count), offset}; }

Words set_registers_indirect(Opcode bank, uint64_t table, uint32_t count) {
  return {header(bank, 4), low(table), high(table), 0x80000000, count};
}

Words set_num_instances(uint32_t count) { return {header(Opcode::num_instances, 1), count}; }

Words set_index_count(uint32_t count) { return {header(Opcode::index_buffer_size, 1), count}; }

Words set_index_buffer(uint64_t address) { return {header(Opcode::index_base, 2), low(address), high(address)}; }

Words set_index_size(uint32_t type, uint32_t flag) {
  return {header(Opcode::set_uconfig_reg_index, 2), 0x20000243, 0x400u | (flag & 1) << 6 | (type & 3)};
}

Words set_base_indirect_args(uint32_t compute, uint64_t address) {
  return {header(Opcode::set_base, 3) | (compute & 1) << 1, 1, low(address) & ~7u, high(address)};
}

}  // namespace orrery::hle::agc
