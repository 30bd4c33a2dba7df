// Packets that set registers and the packet state beside them.
#include <vector>

#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"

namespace orrery::command {
namespace {

constexpr uint32_t bank_size(Bank bank) {
  switch (bank) {
    case Bank::context:
      return protocol::kContextRegisters;
    case Bank::sh:
      return protocol::kShRegisters;
    case Bank::uconfig:
      return protocol::kUconfigRegisters;
  }
  return 0;
}

// The offset word's bits 31:28 are an index in the _INDEX forms and zero in the others.
constexpr uint32_t offset_of(uint32_t word) { return word & 0x0fffffff; }

// Markers in the thread-trace registers are kept like any other value and mean nothing here. A flip inside the stream
// is one of them; what makes the guest process flip is the interrupt of the RELEASE_MEM behind it.
Result<void> set(Machine& machine, Queue& queue, const Packet& packet, Bank bank) {
  const uint32_t first = offset_of(packet.body[0]);
  const auto values = packet.body.subspan(1);
  if (!set_registers(queue, bank, first, values)) {
    machine.refuse(queue, packet, "packet",
                   fmt::format("sets registers {:#x} to {:#x} of a bank of {:#x}", first, first + values.size() - 1,
                               bank_size(bank)));
  }
  return {};
}

// Body: table address, word (bit 31: the table holds {offset, value} pairs; else values of consecutive registers from
// the offset in 15:0), count.
Result<void> load(Machine& machine, Queue& queue, const Packet& packet, Bank bank) {
  const GuestAddress table{address_of(packet.body[0] & ~3u, packet.body[1])};
  const bool pairs = (packet.body[2] >> 31) != 0;
  const uint32_t count = packet.body[3];
  if (count == 0) return {};
  if (count > bank_size(bank)) {
    machine.refuse(queue, packet, "packet", fmt::format("loads {} registers of a bank of {}", count, bank_size(bank)));
    return {};
  }
  ORRERY_TRY(machine.settle());
  machine.parts.executor.will_read(table, {uint64_t{count} * (pairs ? 8 : 4)});
  std::vector<uint32_t> words(pairs ? size_t{count} * 2 : count);
  queue.fetched += words.size();
  if (!machine.read(table, std::as_writable_bytes(std::span(words)))) {
    machine.refuse(queue, packet, "address",
                   fmt::format("reads {} bytes at {:#x}, which is not mapped", words.size() * 4, table.value));
    return {};
  }
  if (!pairs) {
    const uint32_t first = packet.body[2] & 0xffff;
    if (!set_registers(queue, bank, first, words)) {
      machine.refuse(queue, packet, "packet", fmt::format("loads registers from {:#x} past the bank's end", first));
    }
    return {};
  }
  for (size_t i = 0; i < words.size(); i += 2) {
    if (!set_registers(queue, bank, offset_of(words[i]), {&words[i + 1], 1})) {
      machine.refuse(
          queue, packet, "packet",
          fmt::format("table entry {} names register {:#x} of a bank of {:#x}", i / 2, words[i], bank_size(bank)));
    }
  }
  return {};
}

}  // namespace

Result<void> handle_set_context(Machine& m, Queue& q, const Packet& p) { return set(m, q, p, Bank::context); }
Result<void> handle_set_sh(Machine& m, Queue& q, const Packet& p) { return set(m, q, p, Bank::sh); }
Result<void> handle_set_uconfig(Machine& m, Queue& q, const Packet& p) { return set(m, q, p, Bank::uconfig); }
Result<void> handle_load_context(Machine& m, Queue& q, const Packet& p) { return load(m, q, p, Bank::context); }
Result<void> handle_load_sh(Machine& m, Queue& q, const Packet& p) { return load(m, q, p, Bank::sh); }
Result<void> handle_load_uconfig(Machine& m, Queue& q, const Packet& p) { return load(m, q, p, Bank::uconfig); }

// The hardware loads its golden context registers. We do not know them; zero is what a queue starts with here, and
// draws, the only readers, are refused.
Result<void> handle_clear_state(Machine&, Queue& queue, const Packet&) {
  queue.banks.context.clear();
  queue.checkpoint.touched(Bank::context, 0, protocol::kContextRegisters);
  return {};
}

Result<void> handle_set_base(Machine& machine, Queue& queue, const Packet& packet) {
  const uint32_t index = packet.body[0] & 0xf;
  if (index >= std::size(queue.banks.indirect_base)) {
    machine.refuse(queue, packet, "packet", fmt::format("sets base {}, which is not handled", index));
    return {};
  }
  queue.banks.indirect_base[index] = address_of(packet.body[1] & ~7u, packet.body[2]);
  return {};
}

Result<void> handle_num_instances(Machine&, Queue& queue, const Packet& packet) {
  queue.banks.instance_count = packet.body[0];
  return {};
}

Result<void> handle_index_base(Machine&, Queue& queue, const Packet& packet) {
  queue.banks.index_base = address_of(packet.body[0], packet.body[1]);
  return {};
}

Result<void> handle_index_buffer_size(Machine&, Queue& queue, const Packet& packet) {
  queue.banks.index_count = packet.body[0];
  return {};
}

Result<void> handle_index_type(Machine&, Queue& queue, const Packet& packet) {
  set_registers(queue, Bank::uconfig, uconfig::kVgtIndexType, packet.body.first(1));
  return {};
}

}  // namespace orrery::command
