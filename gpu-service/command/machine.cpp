#include "gpu-service/command/machine.hpp"

#include <algorithm>
#include <chrono>

#include "gpu-service/command/packet_table.hpp"
#include "shared/measure/span.hpp"

namespace orrery::command {

uint64_t host_time_ns() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

std::string place_of(const Queue& queue, uint32_t offset) {
  std::string place = fmt::format("queue {}, dword {}", queue.id, offset);
  if (!queue.stack.empty() && queue.stack.back().indirect) {
    place += fmt::format(" of the indirect buffer at {:#x}", queue.stack.back().address.value);
  }
  return place;
}

void Machine::refuse(const Queue& queue, const Packet& packet, std::string_view kind, std::string_view text) {
  std::string bytes = fmt::format("{:08x}", packet.header);
  for (size_t i = 0; i < std::min<size_t>(packet.body.size(), 8); ++i) bytes += fmt::format(" {:08x}", packet.body[i]);
  if (packet.body.size() > 8) bytes += " ...";
  const std::string name = packet.info != nullptr ? packet.info->name : "packet";
  parts.listener.refused(
      {std::string(kind), fmt::format("{}: {} {} [{}]", place_of(queue, packet.offset), name, text, bytes)});
}

void Machine::refused(std::span<const dispatch::Refusal> refusals) {
  for (const auto& refusal : refusals) parts.listener.refused(refusal);
}

bool Machine::read(GuestAddress address, std::span<std::byte> out) const {
  return ahead != nullptr ? ahead->read(address, out) : parts.memory.read(address, out).has_value();
}

bool Machine::write(GuestAddress address, std::span<const std::byte> bytes, bool known) const {
  return ahead != nullptr ? ahead->write(address, bytes, known) : parts.memory.write(address, bytes).has_value();
}

Result<void> Machine::complete() {
  if (!unfinished) return {};
  auto refusals = parts.executor.finish();
  if (!refusals) return forward(std::move(refusals), "finishing GPU work");
  unfinished = false;
  refused(*refusals);
  return {};
}

Result<void> Machine::settle() {
  ORRERY_TRY(complete());
  return commit();
}

Result<void> Machine::commit() {
  if (parts.stretches == nullptr || parts.stretches->empty() || turn == nullptr) return {};
  return commit_place(*turn);
}

Result<void> Machine::commit_place(Queue& queue) {
  if (parts.stretches == nullptr) return {};
  const measure::Span span(measure::SpanName::commit);
  protocol::QueueProgress progress{};
  if (queue.started) {
    progress.sequence = queue.submissions.front().sequence;
    progress.next_buffer = queue.next_buffer;
    progress.fetched = queue.fetched;
    progress.depth = static_cast<uint32_t>(queue.stack.size());
    for (size_t level = 0; level < queue.stack.size(); ++level) {
      const Cursor& cursor = queue.stack[level];
      progress.nested[level] = {cursor.address.value,      cursor.at, cursor.dwords->size(), cursor.id, 0,
                                cursor.indirect ? 1u : 0u, 0};
    }
    // In the middle of a packet: it runs again from its start.
    if (&queue == turn && packet_start && progress.depth != 0) progress.nested[progress.depth - 1].at = *packet_start;
  }
  if (queue.started) parts.stretches->part_of(queue.submissions.front().sequence);
  queue.checkpoint.save(queue.banks, progress,
                        queue.started ? std::span<const Cursor>(queue.stack) : std::span<const Cursor>(),
                        parts.stretches->number());
  ORRERY_TRY(parts.stretches->commit(parts.guest_gone));
  parts.executor.stretch_ended();
  return {};
}

Result<void> Machine::queue_event(const Queue& queue, uint32_t context_id) {
  if (parts.stretches != nullptr) return parts.stretches->queue_event(queue.id, context_id);
  parts.listener.queue_event(queue.id, context_id);
  return {};
}

Result<void> Machine::retired(uint64_t sequence) {
  if (parts.stretches != nullptr) return parts.stretches->done(sequence);
  parts.listener.retired(sequence);
  return {};
}

Result<void> Machine::acquire() {
  // Another queue's recorded work belongs to the map as it was.
  ORRERY_TRY(settle());
  ORRERY_TRY(parts.memory.refresh());
  return parts.executor.acquire();
}

uint64_t Machine::gpu_clock(const Queue& queue) const {
  uint64_t now = queue.submissions.front().guest_time_ns;
  if (!parts.logical_clock) now += host_time_ns() - queue.arrived_ns;
  return now / 10;
}

bool compare(Compare function, uint64_t value, uint64_t reference) {
  switch (function) {
    case Compare::always:
      return true;
    case Compare::less:
      return value < reference;
    case Compare::less_equal:
      return value <= reference;
    case Compare::equal:
      return value == reference;
    case Compare::not_equal:
      return value != reference;
    case Compare::greater_equal:
      return value >= reference;
    case Compare::greater:
      return value > reference;
    case Compare::reserved:
      break;
  }
  return false;
}

std::string describe(const Wait& wait) {
  constexpr const char* kSigns[] = {"anything", "<", "<=", "==", "!=", ">=", ">", "?"};
  return fmt::format("waits for the {}-byte label at {:#x}: (value & {:#x}) {} {:#x}", wait.bytes, wait.address.value,
                     wait.mask, kSigns[static_cast<size_t>(wait.compare)], wait.reference);
}

bool set_registers(Queue& queue, Bank bank, uint32_t first, std::span<const uint32_t> values) {
  const auto write = [&](auto& registers) {
    if (!registers.set(first, values)) return false;
    queue.checkpoint.touched(bank, first, static_cast<uint32_t>(values.size()));
    return true;
  };
  switch (bank) {
    case Bank::context:
      return write(queue.banks.context);
    case Bank::sh:
      return write(queue.banks.sh);
    case Bank::uconfig:
      return write(queue.banks.uconfig);
  }
  return false;
}

}  // namespace orrery::command
