// Packets of the register and index-state builders. Pure: words in, words out. Bytes measured on hardware unless said.
#pragma once

#include <span>

#include "guest-host/hle/agc/pm4.hpp"

namespace orrery::hle::agc {

// `dwords` one-dword fillers. Measured for 1; for other counts only the size is.
Words nop(uint32_t dwords);

// A register and its value as the builders take them: value in the high half, register offset in the low half.
Words set_register_direct(Opcode bank, uint64_t value_and_offset);
// The header of a range write; the values follow it.
Words set_sh_register_range(uint32_t offset, uint32_t count);
// `bank` is one of the set_*_registers_indirect opcodes; the table holds 8-byte {offset, value} pairs.
Words set_registers_indirect(Opcode bank, uint64_t table, uint32_t count);

Words set_num_instances(uint32_t count);
Words set_index_count(uint32_t count);
Words set_index_buffer(uint64_t address);
Words set_index_size(uint32_t type, uint32_t flag);
// `compute` selects the compute base (header bit 1); the address is 8-byte aligned. Compute form not measured.
Words set_base_indirect_args(uint32_t compute, uint64_t address);

}  // namespace orrery::hle::agc
