#include "gpu-service/command/processor.hpp"

#include <algorithm>
#include <utility>

#include "gpu-service/command/machine.hpp"
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
    const auto* stretches = machine_->parts.stretches;
    FetchedPlaces fetched;
    if (stretches != nullptr) fetched = {stretches->fetched(id, 0), stretches->fetched(id, 1)};
    if (id < checkpoints.size()) slot->checkpoint = CheckpointStore(&checkpoints[id], fetched);
  }
  return *slot;
}

void Processor::restore(uint32_t id, uint64_t retired) {
  if (id >= queues_.size()) return;
  Queue& restored = queue(id);
  restored.checkpoint.restore(restored.banks, restored.resume, retired);
}

Result<void> Processor::commit(bool always) {
  if (always && machine_->turn != nullptr) return machine_->commit_place(*machine_->turn);
  return machine_->commit();
}

Result<void> Processor::end_stretch() {
  ORRERY_TRY(machine_->complete());
  return commit(machine_->turn != nullptr);
}

// What another queue has recorded becomes a stretch before this one goes on: there is one order of commits.
Result<void> Processor::turn_to(Queue& queue) {
  Queue* const before = machine_->turn;
  if (before != nullptr && before != &queue && machine_->parts.stretches != nullptr && machine_->unfinished) {
    ORRERY_TRY(machine_->complete());
    ORRERY_TRY(machine_->commit_place(*before));
  }
  machine_->turn = &queue;
  return {};
}

void Processor::submit(Submission submission) {
  if (submission.queue >= queues_.size()) {
    machine_->parts.listener.refused(
        {"packet", fmt::format("queue {} does not exist (there are {})", submission.queue, queues_.size())});
    refused_.push_back(submission.sequence);
    return;
  }
  queue(submission.queue).submissions.push_back(std::move(submission));
}

Result<bool> Processor::run() {
  bool moved = false;
  for (const uint64_t sequence : std::exchange(refused_, {})) {
    ORRERY_TRY(turn_to(queue(0)));
    ORRERY_TRY(machine_->settle());
    if (machine_->parts.stretches != nullptr) machine_->parts.stretches->part_of(sequence);
    ORRERY_TRY(machine_->retired(sequence));
    ORRERY_TRY(machine_->commit());
    moved = true;
  }
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
    ORRERY_TRY(turn_to(queue));
    if (machine_->parts.stretches != nullptr) machine_->parts.stretches->begin();
    if (!span) span.emplace(measure::SpanName::packets, queue.submissions.front().sequence);
    if (!queue.started) {
      ORRERY_TRY(start(queue));
    } else {
      queue.preparing = false;
      const size_t at = queue.stack.empty() ? 0 : queue.stack.back().at;
      auto goes_on = advance(*machine_, queue);
      if (!goes_on) return goes_on;
      if (queue.preparing) {
        // The packet is run again.
        queue.stack.back().at = at;
        if (queue.preparing_since_ns == 0) queue.preparing_since_ns = host_time_ns();
        if (!moved) span->discard();
        return moved;
      }
      if (const uint64_t since = std::exchange(queue.preparing_since_ns, 0); since != 0) {
        measure::record(measure::SpanName::live_pipeline_wait, since, host_time_ns() - since,
                        queue.submissions.front().sequence, track_of(queue));
      }
      if (*goes_on) {
        ORRERY_TRY(machine_->commit());
      } else {
        ORRERY_TRY(retire(queue));
      }
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
  if (std::exchange(queue.resume.sequence, 0) == queue.submissions.front().sequence) ORRERY_TRY(resume(queue));
  return machine_->acquire();
}

// An earlier life began the submission, and what it did up to here is committed.
Result<void> Processor::resume(Queue& queue) {
  const protocol::QueueProgress& progress = queue.resume;
  auto& buffers = queue.submissions.front().buffers;
  const auto damaged = [&] {
    return fail(ExitCode::protocol_mismatch, "the checkpoint of queue {} is damaged", queue.id);
  };
  if (progress.next_buffer > buffers.size()) return damaged();
  queue.next_buffer = progress.next_buffer;
  queue.fetched = progress.fetched;
  for (const protocol::NestedBuffer& nested : std::span(progress.nested).first(progress.depth)) {
    Cursor cursor{nullptr, nested.at, {nested.address}, nested.indirect != 0, 0};
    if (cursor.indirect) {
      cursor.dwords = queue.checkpoint.contents(nested);
      cursor.id = ++machine_->fetches;
    } else if (progress.next_buffer != 0) {
      cursor.dwords =
          std::make_shared<const std::vector<uint32_t>>(std::move(buffers[progress.next_buffer - 1].dwords));
    }
    if (cursor.dwords == nullptr || cursor.at > cursor.dwords->size()) return damaged();
    queue.stack.push_back(std::move(cursor));
  }
  return {};
}

Result<void> Processor::retire(Queue& queue) {
  ORRERY_TRY(machine_->complete());
  const uint64_t sequence = queue.submissions.front().sequence;
  queue.stack.clear();
  queue.wait.reset();
  queue.preparing = false;
  queue.started = false;
  queue.submissions.pop_front();
  measure::record(measure::SpanName::submission, queue.arrived_ns, host_time_ns() - queue.arrived_ns, sequence,
                  track_of(queue));
  machine_->parts.listener.registers_after(queue.id, sequence, queue.banks);
  if (machine_->parts.stretches != nullptr) machine_->parts.stretches->part_of(sequence);
  ORRERY_TRY(machine_->retired(sequence));
  return machine_->commit();
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
  ORRERY_TRY(turn_to(queue));
  ORRERY_TRY(machine_->complete());
  // The label may change again: that the wait is over must not be asked twice.
  ORRERY_TRY(machine_->commit_place(queue));
  ORRERY_TRY(machine_->acquire());
  return true;
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

const RegisterFile* Processor::registers(uint32_t id) const {
  return id < queues_.size() && queues_[id] != nullptr ? &queues_[id]->banks : nullptr;
}

}  // namespace orrery::command
