// WRITE_DATA and DMA_DATA.
#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"

namespace orrery::command {
namespace {

// WRITE_DATA to a register: only registers of the known banks, and the debugging markers.
void write_registers(Machine& machine, Queue& queue, const Packet& packet, uint32_t first,
                     std::span<const uint32_t> values) {
  if (first == kUconfigBase + uconfig::kThreadTraceUserdata2 ||
      first == kUconfigBase + uconfig::kThreadTraceUserdata3) {
    return;
  }
  // WR_ONE_ADDR: every value goes to the same register, the last one stays.
  if ((packet.body[0] >> 16 & 1) != 0) values = values.last(1);
  const bool done = first >= kUconfigBase   ? set_registers(queue, Bank::uconfig, first - kUconfigBase, values)
                    : first >= kContextBase ? set_registers(queue, Bank::context, first - kContextBase, values)
                    : first >= kShBase      ? set_registers(queue, Bank::sh, first - kShBase, values)
                                            : false;
  if (!done) machine.refuse(queue, packet, "packet", fmt::format("writes register {:#x}, which is not handled", first));
}

void no_address(Machine& machine, const Queue& queue, const Packet& packet, const char* verb, GuestAddress address,
                uint64_t size) {
  machine.refuse(queue, packet, "address",
                 fmt::format("{} {} bytes at {:#x}, which is not mapped", verb, size, address.value));
}

}  // namespace

// Body: control (DST_SEL 11:8, WR_ONE_ADDR 16), address, data.
Result<void> handle_write_data(Machine& machine, Queue& queue, const Packet& packet) {
  constexpr uint32_t kRegister = 0, kMemorySync = 1, kL2 = 2, kMemory = 5;
  const uint32_t destination = packet.body[0] >> 8 & 0xf;
  auto values = packet.body.subspan(3);
  ORRERY_TRY(machine.complete());
  if (destination == kRegister) {
    write_registers(machine, queue, packet, packet.body[1], values);
    return {};
  }
  if (destination != kMemorySync && destination != kL2 && destination != kMemory) {
    machine.refuse(queue, packet, "packet", fmt::format("writes to destination {}, which is not handled", destination));
    return {};
  }
  const GuestAddress address{address_of(packet.body[1] & ~3u, packet.body[2])};
  if ((packet.body[0] >> 16 & 1) != 0) values = values.last(1);
  if (!machine.write(address, std::as_bytes(values))) {
    no_address(machine, queue, packet, "writes", address, values.size_bytes());
  }
  return {};
}

// Body: control (DST_SEL 21:20, SRC_SEL 30:29), source or data, destination, command (bytes 25:0).
Result<void> handle_dma_data(Machine& machine, Queue& queue, const Packet& packet) {
  constexpr uint32_t kAddress = 0, kGds = 1, kData = 2, kL2 = 3;
  const auto body = packet.body;
  const uint32_t source_select = body[0] >> 29 & 3, destination_select = body[0] >> 20 & 3;
  const Bytes size{body[5] & 0x03ffffff};
  const uint32_t flags = body[5] >> 26;  // SAS, DAS (register spaces), SAIC, DAIC (no increment), RAW_WAIT, DIS_WC
  const GuestAddress source{address_of(body[1], body[2])}, destination{address_of(body[3], body[4])};
  if (source_select == kGds || destination_select == kGds || destination_select == kData || (flags & 3) != 0) {
    machine.refuse(queue, packet, "packet", "copies from or to GDS or registers, which is not handled");
    return {};
  }
  if ((flags & 0xc) != 0) {
    machine.refuse(queue, packet, "packet", "copies without incrementing an address, which is not handled");
    return {};
  }
  static_assert(kAddress != kL2);  // both mean memory here
  if (size.value == 0) return {};
  if (!machine.parts.memory.mapped(destination, size)) {
    no_address(machine, queue, packet, "writes", destination, size.value);
    return {};
  }
  if (source_select == kData) {
    if (size.value % 4 != 0 || destination.value % 4 != 0) {
      machine.refuse(queue, packet, "packet", "fills a range that is not made of whole dwords, which is not handled");
      return {};
    }
    machine.unfinished = true;
    machine.refused(machine.parts.executor.fill(destination, size, body[1]));
    return {};
  }
  if (!machine.parts.memory.mapped(source, size)) {
    no_address(machine, queue, packet, "reads", source, size.value);
    return {};
  }
  machine.unfinished = true;
  machine.refused(machine.parts.executor.copy(destination, source, size));
  return {};
}

}  // namespace orrery::command
