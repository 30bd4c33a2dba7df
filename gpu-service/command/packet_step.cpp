// From a queue's cursor to a handler.
#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"

namespace orrery::command {
namespace {

Result<void> step(Machine& machine, Queue& queue) {
  Cursor& cursor = queue.stack.back();
  const auto& dwords = *cursor.dwords;
  const auto offset = static_cast<uint32_t>(cursor.at);
  Packet packet{nullptr, dwords[cursor.at], offset, {}};
  if (auto* status = machine.parts.status; status != nullptr) {
    status->current_sequence.store(queue.submissions.front().sequence, std::memory_order_relaxed);
    status->current_packet.store(offset, std::memory_order_relaxed);
  }
  const PacketHeader header = decode_header(packet.header);
  const size_t left = dwords.size() - cursor.at - 1;
  if (header.type != 3) {
    machine.refuse(queue, packet, "packet",
                   fmt::format("of type {}; the rest of this buffer ({} dwords) is not executed", header.type, left));
    cursor.at = dwords.size();
    return {};
  }
  packet.info = find_packet(header.opcode);
  if (header.body_dwords > left) {
    machine.refuse(queue, packet, "packet",
                   fmt::format("(opcode {:#x}) has {} body dwords where its buffer has {} left; they are not executed",
                               header.opcode, header.body_dwords, left));
    cursor.at = dwords.size();
    return {};
  }
  packet.body = std::span(dwords).subspan(cursor.at + 1, header.body_dwords);
  cursor.at += header.total_dwords();
  if (packet.info == nullptr) {
    machine.refuse(queue, packet, "packet", fmt::format("with unknown opcode {:#x}", header.opcode));
    return {};
  }
  if (packet.info->handler == nullptr) {
    machine.refuse(queue, packet, "packet", fmt::format("({:#x}) is not implemented", header.opcode));
    return {};
  }
  if (header.body_dwords < packet.info->least_body || header.body_dwords > packet.info->most_body) {
    machine.refuse(queue, packet, "packet",
                   fmt::format("has {} body dwords; {} to {} are handled", header.body_dwords, packet.info->least_body,
                               packet.info->most_body));
    return {};
  }
  return packet.info->handler(machine, queue, packet);
}

}  // namespace

Result<bool> advance(Machine& machine, Queue& queue) {
  if (queue.fetched > kMaxFetchedDwords) {
    machine.parts.listener.refused(
        {"packet", fmt::format("queue {}: a submission of more than {} dwords was given up (does it call itself?)",
                               queue.id, kMaxFetchedDwords)});
    return false;
  }
  if (!queue.stack.empty()) {
    if (queue.stack.back().at < queue.stack.back().dwords->size()) {
      machine.packet_start = queue.stack.back().at;
      auto stepped = step(machine, queue);
      machine.packet_start.reset();
      if (!stepped) return std::unexpected(std::move(stepped.error()));
    } else {
      queue.stack.pop_back();
    }
    return true;
  }
  if (queue.next_buffer == queue.submissions.front().buffers.size()) return false;
  CommandBuffer& buffer = queue.submissions.front().buffers[queue.next_buffer++];
  if (!buffer.readable) {
    machine.parts.listener.refused(
        {"address", fmt::format("queue {}: a command buffer of {} dwords at {:#x} is not mapped", queue.id,
                                buffer.claimed_dwords, buffer.address.value)});
  } else {
    queue.stack.push_back(
        {std::make_shared<const std::vector<uint32_t>>(std::move(buffer.dwords)), 0, buffer.address, false, 0});
  }
  return true;
}

}  // namespace orrery::command
