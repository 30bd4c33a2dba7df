// Labels, clocks, interrupts and waits.
#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"

namespace orrery::command {
namespace {

// DATA_SEL of RELEASE_MEM and EVENT_WRITE_EOP.
enum DataSelect : uint32_t { kNoData = 0, kValue32 = 1, kValue64 = 2, kGpuClock = 3 };

struct EndOfPipe {
  GuestAddress address;
  uint32_t data_select = 0;
  uint32_t interrupt_select = 0;
  uint64_t value = 0;
  uint32_t context_id = 0;
};

Result<void> end_of_pipe(Machine& machine, Queue& queue, const Packet& packet, const EndOfPipe& end) {
  ORRERY_TRY(machine.complete());
  const uint32_t size = end.data_select == kValue32 ? 4 : 8;
  if (end.data_select > kGpuClock) {
    machine.refuse(queue, packet, "packet", fmt::format("asks for data {}, which is not handled", end.data_select));
  } else if (end.data_select != kNoData) {
    const uint64_t value = end.data_select == kGpuClock ? machine.gpu_clock(queue) : end.value;
    const GuestAddress address{end.address.value & ~uint64_t{size - 1}};
    if (!machine.write(address, std::as_bytes(std::span(&value, 1)).first(size), end.data_select != kGpuClock)) {
      machine.refuse(queue, packet, "address",
                     fmt::format("writes {} bytes at {:#x}, which is not mapped", size, address.value));
    }
  }
  // Measured: every end-of-pipe action with INT_SEL != 0 posts an event.
  if (end.interrupt_select != 0) return machine.queue_event(queue, end.context_id);
  return {};
}

Result<void> wait_for(Machine& machine, Queue& queue, const Packet& packet, const Wait& wait) {
  const uint32_t control = packet.body[0];
  if ((control >> 4 & 3) != 1) {
    machine.refuse(queue, packet, "packet", "waits for a register, which is not handled");
    return {};
  }
  if ((control >> 6 & 3) != 0 && (control >> 6 & 3) != 3) {
    machine.refuse(queue, packet, "packet", "waits with a register write, which is not handled");
    return {};
  }
  if (wait.compare == Compare::reserved) {
    machine.refuse(queue, packet, "packet", "waits with comparison 7, which is reserved");
    return {};
  }
  ORRERY_TRY(machine.settle());
  ORRERY_TRY(machine.parts.memory.refresh());
  if (!machine.parts.memory.mapped(wait.address, {wait.bytes})) {
    machine.refuse(queue, packet, "address", fmt::format("{}, which is not mapped; it goes on", describe(wait)));
    return {};
  }
  // Polled by the processor, the first time at once.
  queue.wait = wait;
  queue.wait_since_ns = host_time_ns();
  return {};
}

}  // namespace

// Body: event and cache control, selectors, address, data, context id.
Result<void> handle_release_mem(Machine& machine, Queue& queue, const Packet& packet) {
  const auto body = packet.body;
  return end_of_pipe(machine, queue, packet,
                     {.address = {address_of(body[2], body[3])},
                      .data_select = body[1] >> 29,
                      .interrupt_select = body[1] >> 24 & 7,
                      .value = address_of(body[4], body[5]),
                      .context_id = body[6]});
}

// Body: event, address low, address high (15:0) and selectors, data.
Result<void> handle_event_write_eop(Machine& machine, Queue& queue, const Packet& packet) {
  const auto body = packet.body;
  return end_of_pipe(machine, queue, packet,
                     {.address = {address_of(body[1], body[2] & 0xffff)},
                      .data_select = body[2] >> 29,
                      .interrupt_select = body[2] >> 24 & 3,
                      .value = address_of(body[3], body[4])});
}

// Events without an address flush or count; the executor's order covers them. With one they would write memory.
Result<void> handle_event_write(Machine& machine, Queue& queue, const Packet& packet) {
  if (packet.body.size() > 1) {
    machine.refuse(
        queue, packet, "packet",
        fmt::format("writes the result of event {:#x} to memory, which is not handled", packet.body[0] & 0x3f));
  }
  return {};
}

// Body: control, address, reference, mask, poll interval.
Result<void> handle_wait_reg_mem(Machine& machine, Queue& queue, const Packet& packet) {
  const auto body = packet.body;
  return wait_for(machine, queue, packet,
                  {.address = {address_of(body[1] & ~3u, body[2])},
                   .bytes = 4,
                   .compare = static_cast<Compare>(body[0] & 7),
                   .reference = body[3],
                   .mask = body[4],
                   .packet_offset = packet.offset});
}

Result<void> handle_wait_reg_mem64(Machine& machine, Queue& queue, const Packet& packet) {
  const auto body = packet.body;
  return wait_for(machine, queue, packet,
                  {.address = {address_of(body[1] & ~7u, body[2])},
                   .bytes = 8,
                   .compare = static_cast<Compare>(body[0] & 7),
                   .reference = address_of(body[3], body[4]),
                   .mask = address_of(body[5], body[6]),
                   .packet_offset = packet.offset});
}

}  // namespace orrery::command
