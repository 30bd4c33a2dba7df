// Dispatches.
#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"

namespace orrery::command {
namespace {

dispatch::DispatchState state_of(const Queue& queue, const Packet& packet) {
  const auto& sh = queue.banks.sh;
  dispatch::DispatchState state;
  // The program address is in 256-byte units, 40 bits of it in all.
  state.program = {address_of(sh[sh::kComputePgmLo], sh[sh::kComputePgmLo + 1] & 0xff) << 8};
  state.rsrc1 = sh[sh::kComputePgmRsrc1];
  state.rsrc2 = sh[sh::kComputePgmRsrc1 + 1];
  state.rsrc3 = sh[sh::kComputePgmRsrc3];
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t threads = sh[sh::kComputeNumThreadX + i];
    state.group_size[i] = threads & 0xffff;
    state.partial_size[i] = threads >> 16;
    state.start[i] = sh[sh::kComputeStartX + i];
  }
  for (uint32_t i = 0; i < state.user_data.size(); ++i) state.user_data[i] = sh[sh::kComputeUserData0 + i];
  state.tmpring_size = sh[sh::kComputeTmpringSize];
  state.queue = queue.id;
  state.sequence = queue.submissions.front().sequence;
  state.packet_offset = packet.offset;
  return state;
}

// While its program is being prepared the queue stays at the packet; the others go on.
void record(Machine& machine, Queue& queue, const dispatch::DispatchState& state) {
  auto* status = machine.parts.status;
  // Last words are written before the deed.
  if (status != nullptr) status->current_program.store(state.program.value, std::memory_order_relaxed);
  const auto refusals = machine.parts.executor.try_dispatch(state);
  if (!refusals) {
    queue.preparing = true;
    return;
  }
  machine.unfinished = true;
  if (refusals->empty() && status != nullptr) status->dispatches.fetch_add(1, std::memory_order_relaxed);
  machine.refused(*refusals);
}

}  // namespace

Result<void> handle_dispatch_direct(Machine& machine, Queue& queue, const Packet& packet) {
  auto state = state_of(queue, packet);
  state.groups = {packet.body[0], packet.body[1], packet.body[2]};
  state.initiator = packet.body[3];
  record(machine, queue, state);
  return {};
}

// Two body dwords (graphics queues): offset from SET_BASE 1, initiator. Three (compute queues): address, initiator.
Result<void> handle_dispatch_indirect(Machine& machine, Queue& queue, const Packet& packet) {
  const GuestAddress arguments{packet.body.size() == 2 ? queue.banks.indirect_base[1] + packet.body[0]
                                                       : address_of(packet.body[0], packet.body[1])};
  ORRERY_TRY(machine.settle());
  machine.parts.executor.will_read(arguments, {sizeof(dispatch::DispatchState::groups)});
  auto state = state_of(queue, packet);
  if (!machine.read(arguments, std::as_writable_bytes(std::span(state.groups)))) {
    machine.refuse(queue, packet, "address",
                   fmt::format("reads its arguments at {:#x}, which is not mapped", arguments.value));
    return {};
  }
  state.initiator = packet.body.back();
  record(machine, queue, state);
  return {};
}

}  // namespace orrery::command
