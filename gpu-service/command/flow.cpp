// INDIRECT_BUFFER and COND_EXEC: where the queue reads on.
#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"

namespace orrery::command {

// Body: address, control (size in dwords 19:0, CHAIN bit 20: go there and do not come back).
Result<void> handle_indirect_buffer(Machine& machine, Queue& queue, const Packet& packet) {
  const GuestAddress address{address_of(packet.body[0] & ~3u, packet.body[1] & 0xffff)};
  const uint32_t dwords = packet.body[2] & 0xfffff;
  const bool chain = (packet.body[2] >> 20 & 1) != 0;
  if (!chain && queue.stack.size() >= kMaxDepth) {
    machine.refuse(queue, packet, "packet",
                   fmt::format("nests deeper than {} indirect buffers (do they call each other?)", kMaxDepth));
    return {};
  }
  if (queue.fetched + dwords > kMaxFetchedDwords) {
    // The processor gives the submission up when the budget is passed.
    queue.fetched += dwords;
    return {};
  }
  // Earlier work of the stream may have written the buffer.
  ORRERY_TRY(machine.settle());
  machine.parts.executor.will_read(address, bytes_of(Dwords{dwords}));
  auto words = std::make_shared<std::vector<uint32_t>>(dwords);
  if (!machine.read(address, std::as_writable_bytes(std::span(*words)))) {
    machine.refuse(queue, packet, "address",
                   fmt::format("names {} dwords at {:#x}, which is not mapped", dwords, address.value));
    return {};
  }
  // An endless chain of empty buffers must use the budget up as well.
  queue.fetched += dwords + 4;
  if (chain) queue.stack.pop_back();
  queue.stack.push_back({std::move(words), 0, address, true, ++machine.fetches});
  return {};
}

// Body: address, control, dwords to skip when the dword there is zero.
Result<void> handle_cond_exec(Machine& machine, Queue& queue, const Packet& packet) {
  const GuestAddress address{address_of(packet.body[0] & ~3u, packet.body[1])};
  const uint32_t skip = packet.body[3] & 0x3fff;
  ORRERY_TRY(machine.settle());
  machine.parts.executor.will_read(address, {4});
  if (machine.ahead != nullptr) {
    machine.ahead->unknown(fmt::format("the dword at {:#x} decides whether packets are executed", address.value));
    return {};
  }
  uint32_t value = 0;
  if (!machine.read(address, std::as_writable_bytes(std::span(&value, 1)))) {
    machine.refuse(
        queue, packet, "address",
        fmt::format("reads its condition at {:#x}, which is not mapped; what follows is executed", address.value));
    return {};
  }
  if (value != 0) return {};
  Cursor& cursor = queue.stack.back();
  if (skip > cursor.dwords->size() - cursor.at) {
    machine.refuse(queue, packet, "packet", fmt::format("skips {} dwords past the end of its buffer", skip));
    cursor.at = cursor.dwords->size();
    return {};
  }
  cursor.at += skip;
  return {};
}

}  // namespace orrery::command
