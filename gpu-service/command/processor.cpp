#include "gpu-service/command/processor.hpp"

#include <algorithm>
#include <utility>

#include "gpu-service/command/machine.hpp"
#include "gpu-service/command/packet_table.hpp"
#include "gpu-service/command/pm4.hpp"
#include "shared/measure/span.hpp"

namespace orrery::command {
namespace {

// Packets a queue may run before the others get their turn and messages are looked at.
constexpr uint32_t kQuantum = 256;

measure::Track track_of(const Queue& queue) { return {measure::TrackKind::queue, queue.id}; }

}  // namespace

Processor::Processor(const ProcessorParts& parts) : machine_(std::make_unique<Machine>(Machine{parts})) {}
Processor::~Processor() = default;

Queue& Processor::queue(uint32_t id) {
  auto& slot = queues_[id];
  if (slot == nullptr) {
    slot = std::make_unique<Queue>();
    slot->id = id;
    const auto checkpoints = machine_->parts.checkpoints;
    if (id < checkpoints.size()) slot->checkpoint = CheckpointStore(&checkpoints[id]);
  }
  return *slot;
}

void Processor::restore(uint32_t id, uint64_t first_open) {
  if (id >= queues_.size()) return;
  Queue& restored = queue(id);
  restored.checkpoint.restore(restored.banks, first_open);
}

void Processor::submit(Submission submission) {
  if (submission.queue >= queues_.size()) {
    machine_->parts.listener.refused(
        {"packet", fmt::format("queue {} does not exist (there are {})", submission.queue, queues_.size())});
    machine_->parts.listener.retired(submission.sequence);
    return;
  }
  queue(submission.queue).submissions.push_back(std::move(submission));
}

Result<bool> Processor::run() {
  bool moved = false;
  for (auto& slot : queues_) {
    if (slot == nullptr || slot->submissions.empty()) continue;
    auto queue_moved = run_queue(*slot);
    if (!queue_moved) return forward(std::move(queue_moved), fmt::format("running queue {}", slot->id));
    moved |= *queue_moved;
  }
  return moved;
}

Result<bool> Processor::run_queue(Queue& queue) {
  bool moved = false;
  std::optional<measure::Span> span;
  for (uint32_t budget = kQuantum; budget != 0 && !queue.submissions.empty(); --budget) {
    if (queue.started && queue.wait) {
      auto satisfied = poll_wait(queue);
      if (!satisfied) return satisfied;
      if (!*satisfied) return moved;
      moved = true;
      continue;
    }
    if (!span) span.emplace(measure::SpanName::packets, queue.submissions.front().sequence);
    if (!queue.started) {
      ORRERY_TRY(start(queue));
    } else if (queue.fetched > kMaxFetchedDwords) {
      machine_->parts.listener.refused(
          {"packet", fmt::format("queue {}: a submission of more than {} dwords was given up (does it call itself?)",
                                 queue.id, kMaxFetchedDwords)});
      ORRERY_TRY(retire(queue));
    } else if (!queue.stack.empty()) {
      if (queue.stack.back().at < queue.stack.back().dwords->size()) {
        const size_t at = queue.stack.back().at;
        queue.preparing = false;
        ORRERY_TRY(step(queue));
        if (queue.preparing) {
          queue.stack.back().at = at;
          if (queue.preparing_since_ns == 0) queue.preparing_since_ns = host_time_ns();
          if (!moved) span->discard();
          return moved;
        }
        if (const uint64_t since = std::exchange(queue.preparing_since_ns, 0); since != 0) {
          measure::record(measure::SpanName::live_pipeline_wait, since, host_time_ns() - since,
                          queue.submissions.front().sequence, track_of(queue));
        }
      } else {
        queue.stack.pop_back();
      }
    } else if (queue.next_buffer < queue.submissions.front().buffers.size()) {
      CommandBuffer& buffer = queue.submissions.front().buffers[queue.next_buffer++];
      if (!buffer.readable) {
        machine_->parts.listener.refused(
            {"address", fmt::format("queue {}: a command buffer of {} dwords at {:#x} is not mapped", queue.id,
                                    buffer.claimed_dwords, buffer.address.value)});
      } else {
        queue.stack.push_back(
            {std::make_shared<const std::vector<uint32_t>>(std::move(buffer.dwords)), 0, buffer.address, false});
      }
    } else {
      ORRERY_TRY(retire(queue));
    }
    moved = true;
  }
  return moved;
}

Result<void> Processor::start(Queue& queue) {
  if (auto* status = machine_->parts.status; status != nullptr) {
    status->current_sequence.store(queue.submissions.front().sequence, std::memory_order_relaxed);
  }
  queue.started = true;
  queue.next_buffer = 0;
  queue.fetched = 0;
  queue.arrived_ns = host_time_ns();
  return machine_->acquire();
}

Result<void> Processor::retire(Queue& queue) {
  ORRERY_TRY(machine_->settle());
  const uint64_t sequence = queue.submissions.front().sequence;
  queue.stack.clear();
  queue.wait.reset();
  queue.preparing = false;
  queue.started = false;
  queue.submissions.pop_front();
  measure::record(measure::SpanName::submission, queue.arrived_ns, host_time_ns() - queue.arrived_ns, sequence,
                  track_of(queue));
  queue.checkpoint.save(queue.banks, sequence);
  machine_->parts.listener.retired(sequence);
  return {};
}

Result<bool> Processor::poll_wait(Queue& queue) {
  const Wait& wait = *queue.wait;
  const auto& memory = machine_->parts.memory;
  // The label may have moved or gone.
  if (memory.stale()) ORRERY_TRY(machine_->acquire());
  uint64_t value = 0;
  // A label that is not mapped satisfies nothing; it is reported with the other waits.
  if (wait.bytes == 4) {
    const auto dword = memory.read_u32(wait.address);
    if (!dword) return false;
    value = *dword;
  } else {
    const auto qword = memory.read_u64(wait.address);
    if (!qword) return false;
    value = *qword;
  }
  if (!compare(wait.compare, value & wait.mask, wait.reference)) return false;
  queue.wait.reset();
  measure::record(measure::SpanName::label_wait, queue.wait_since_ns, host_time_ns() - queue.wait_since_ns,
                  queue.submissions.front().sequence, track_of(queue));
  ORRERY_TRY(machine_->acquire());
  return true;
}

Result<void> Processor::step(Queue& queue) {
  Cursor& cursor = queue.stack.back();
  const auto& dwords = *cursor.dwords;
  const auto offset = static_cast<uint32_t>(cursor.at);
  Packet packet{nullptr, dwords[cursor.at], offset, {}};
  if (auto* status = machine_->parts.status; status != nullptr) {
    status->current_sequence.store(queue.submissions.front().sequence, std::memory_order_relaxed);
    status->current_packet.store(offset, std::memory_order_relaxed);
  }
  const PacketHeader header = decode_header(packet.header);
  const size_t left = dwords.size() - cursor.at - 1;
  if (header.type != 3) {
    machine_->refuse(queue, packet, "packet",
                     fmt::format("of type {}; the rest of this buffer ({} dwords) is not executed", header.type, left));
    cursor.at = dwords.size();
    return {};
  }
  packet.info = find_packet(header.opcode);
  if (header.body_dwords > left) {
    machine_->refuse(
        queue, packet, "packet",
        fmt::format("(opcode {:#x}) has {} body dwords where its buffer has {} left; they are not executed",
                    header.opcode, header.body_dwords, left));
    cursor.at = dwords.size();
    return {};
  }
  packet.body = std::span(dwords).subspan(cursor.at + 1, header.body_dwords);
  cursor.at += header.total_dwords();
  if (packet.info == nullptr) {
    machine_->refuse(queue, packet, "packet", fmt::format("with unknown opcode {:#x}", header.opcode));
    return {};
  }
  if (packet.info->handler == nullptr) {
    machine_->refuse(queue, packet, "packet", fmt::format("({:#x}) is not implemented", header.opcode));
    return {};
  }
  if (header.body_dwords < packet.info->least_body || header.body_dwords > packet.info->most_body) {
    machine_->refuse(queue, packet, "packet",
                     fmt::format("has {} body dwords; {} to {} are handled", header.body_dwords,
                                 packet.info->least_body, packet.info->most_body));
    return {};
  }
  return packet.info->handler(*machine_, queue, packet);
}

bool Processor::idle() const {
  for (const auto& slot : queues_) {
    if (slot != nullptr && !slot->submissions.empty()) return false;
  }
  return true;
}

bool Processor::preparing() const {
  return std::ranges::any_of(queues_, [](const auto& slot) { return slot != nullptr && slot->preparing; });
}

std::vector<BlockedQueue> Processor::blocked() const {
  std::vector<BlockedQueue> blocked;
  for (const auto& slot : queues_) {
    if (slot == nullptr || !slot->wait) continue;
    const Wait& wait = *slot->wait;
    std::string seen = "it is not mapped any more";
    if (wait.bytes == 4) {
      if (auto dword = machine_->parts.memory.read_u32(wait.address); dword)
        seen = fmt::format("it holds {:#x}", *dword);
    } else if (auto qword = machine_->parts.memory.read_u64(wait.address); qword) {
      seen = fmt::format("it holds {:#x}", *qword);
    }
    blocked.push_back({slot->id, slot->submissions.front().sequence,
                       fmt::format("{} {}; {}", place_of(*slot, wait.packet_offset), describe(wait), seen)});
  }
  return blocked;
}

const protocol::RegisterBanks* Processor::registers(uint32_t id) const {
  return id < queues_.size() && queues_[id] != nullptr ? &queues_[id]->banks : nullptr;
}

}  // namespace orrery::command
