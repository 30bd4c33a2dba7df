// The one table of PM4 packets: opcode, name, allowed length, handler. A packet without a handler is known by name and
// refused.
#pragma once

#include <cstdint>

#include "gpu-service/command/machine.hpp"

namespace orrery::command {

using Handler = Result<void> (*)(Machine&, Queue&, const Packet&);

struct PacketInfo {
  uint8_t opcode = 0;
  const char* name = nullptr;
  uint16_t least_body = 1, most_body = 0x4000;  // dwords
  Handler handler = nullptr;
};

// Null when the opcode is not in the table.
const PacketInfo* find_packet(uint32_t opcode);

// Handlers, by theme: registers.cpp, dispatches.cpp, draws.cpp, synchronization.cpp, memory_writes.cpp, flow.cpp.
Result<void> handle_nothing(Machine&, Queue&, const Packet&);
Result<void> handle_set_context(Machine&, Queue&, const Packet&);
Result<void> handle_set_sh(Machine&, Queue&, const Packet&);
Result<void> handle_set_uconfig(Machine&, Queue&, const Packet&);
Result<void> handle_load_context(Machine&, Queue&, const Packet&);
Result<void> handle_load_sh(Machine&, Queue&, const Packet&);
Result<void> handle_load_uconfig(Machine&, Queue&, const Packet&);
Result<void> handle_clear_state(Machine&, Queue&, const Packet&);
Result<void> handle_set_base(Machine&, Queue&, const Packet&);
Result<void> handle_num_instances(Machine&, Queue&, const Packet&);
Result<void> handle_index_base(Machine&, Queue&, const Packet&);
Result<void> handle_index_buffer_size(Machine&, Queue&, const Packet&);
Result<void> handle_index_type(Machine&, Queue&, const Packet&);
Result<void> handle_dispatch_direct(Machine&, Queue&, const Packet&);
Result<void> handle_dispatch_indirect(Machine&, Queue&, const Packet&);
Result<void> handle_draw_index_auto(Machine&, Queue&, const Packet&);
Result<void> handle_draw_index_2(Machine&, Queue&, const Packet&);
Result<void> handle_other_draw(Machine&, Queue&, const Packet&);
Result<void> handle_event_write(Machine&, Queue&, const Packet&);
Result<void> handle_event_write_eop(Machine&, Queue&, const Packet&);
Result<void> handle_release_mem(Machine&, Queue&, const Packet&);
Result<void> handle_wait_reg_mem(Machine&, Queue&, const Packet&);
Result<void> handle_wait_reg_mem64(Machine&, Queue&, const Packet&);
Result<void> handle_write_data(Machine&, Queue&, const Packet&);
Result<void> handle_dma_data(Machine&, Queue&, const Packet&);
Result<void> handle_indirect_buffer(Machine&, Queue&, const Packet&);
Result<void> handle_cond_exec(Machine&, Queue&, const Packet&);

}  // namespace orrery::command
