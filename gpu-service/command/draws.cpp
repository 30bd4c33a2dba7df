// Draws: registers to a draw's state, which the executor records.
#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"
#include "gpu-service/draw/draw_state.hpp"

namespace orrery::command {
namespace {

draw::DrawState state_of(const Queue& queue, const Packet& packet) {
  const RegisterFile& banks = queue.banks;
  draw::DrawState state = draw::draw_state_of([&](uint32_t index) {
    if (index >= kUconfigBase) return banks.uconfig[index - kUconfigBase];
    if (index >= kContextBase) return banks.context[index - kContextBase];
    return banks.sh[index - kShBase];
  });
  // NUM_INSTANCES 0 means 1, as on hardware.
  state.instances = banks.instance_count == 0 ? 1 : banks.instance_count;
  state.queue = queue.id;
  state.sequence = queue.submissions.front().sequence;
  state.packet_offset = packet.offset;
  return state;
}

void record(Machine& machine, const draw::DrawState& state) {
  machine.unfinished = true;
  machine.refused(machine.parts.executor.draw(state));
}

}  // namespace

// Body: vertices, initiator.
Result<void> handle_draw_index_auto(Machine& machine, Queue& queue, const Packet& packet) {
  draw::DrawState state = state_of(queue, packet);
  state.vertices = packet.body[0];
  record(machine, state);
  return {};
}

// Body: most indices, index address, indices, initiator.
Result<void> handle_draw_index_2(Machine& machine, Queue& queue, const Packet& packet) {
  draw::DrawState state = state_of(queue, packet);
  state.vertices = packet.body[3];
  state.indexed = true;
  state.indices = {address_of(packet.body[1], packet.body[2])};
  record(machine, state);
  return {};
}

// Without place and bytes: a title draws thousands of times, and one line says it all.
Result<void> handle_other_draw(Machine& machine, Queue& queue, const Packet& packet) {
  machine.parts.listener.refused(
      {"draw", fmt::format("queue {}: this draw is not implemented yet ({})", queue.id, packet.info->name)});
  return {};
}

}  // namespace orrery::command
