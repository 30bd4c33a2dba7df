// From a dispatch's bound buffers to ranges of device buffers. Whatever can't be bound is reached through the device
// page table.
#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/dispatch/executor_state.hpp"
#include "gpu-service/shader/binding_limit.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {

TracedBuffers DispatchExecutor::State::traced_buffers(const DispatchState& dispatch, const ReadProgram& program,
                                                      const shader::Module& module, bool& unsettled) {
  if (module.buffers.empty() && module.images.empty()) return std::vector<TracedBuffer>(module.samplers.size());
  const measure::Span measuring(measure::SpanName::dispatch_buffers, dispatch.program.value);
  TraceKey key = trace_key(dispatch, program.content, false);
  const auto touches = [&](memory::GuestSpan span, auto may) {
    const auto pieces = memory.pieces(span.begin, span.size);
    return !pieces || std::ranges::any_of(*pieces, [&](const memory::Piece& piece) {
      return may(ArenaRange{piece.offset.value, piece.offset.value + piece.size.value});
    });
  };
  const auto may_change = [&](memory::GuestSpan span) { return may_be_written(span); };
  ProgramReport& report = reports.of({dispatch.program, program.content});
  TraceMiss why{};
  if (auto kept = traces.find(key, memory, may_change, TraceAsker::preparation, &why)) {
    ++report.hits;
    measure::count(measure::Counter::trace_hits);
    return std::move(*kept);
  }
  ++report.misses[static_cast<size_t>(why)];
  measure::count(measure::Counter::trace_misses);
  bool blocked = false;
  memory::RecordingMemory recording(memory, [&](GuestAddress at, std::span<std::byte> out) {
    // Work that may write anywhere is not waited for: device-addressed, the program reads its tables itself.
    const memory::GuestSpan span{at, {out.size()}};
    if (options.device_addressing && memory.mapped(at, span.size) && may_change(span) &&
        !touches(span, [&](ArenaRange range) { return pending.names(range); })) {
      blocked = true;
      return false;
    }
    return settled_read(at, out);
  });
  TracedBuffers answer = trace_descriptors(module, dispatch, most_bound_bytes(), recording);
  if (blocked) {
    unsettled = true;
    ++counters.tables_unsettled;
    return std::unexpected(std::string("earlier work may still write anywhere, so also where its descriptors lie"));
  }
  // What a lost device left unread says nothing of memory.
  if (!lost) traces.keep(std::move(key), answer, recording.take_notes());
  return answer;
}

bool DispatchExecutor::State::may_be_written(memory::GuestSpan span) const {
  const auto pieces = memory.pieces(span.begin, span.size);
  return !pieces || std::ranges::any_of(*pieces, [&](const memory::Piece& piece) {
    return pending.may_touch({piece.offset.value, piece.offset.value + piece.size.value});
  });
}

void DispatchExecutor::State::add_written(memory::GuestSpan span, Prepared& prepared) const {
  const auto pieces = memory.pieces(span.begin, span.size);
  for (const auto& piece : pieces.value_or(std::vector<memory::Piece>{})) {
    prepared.written.push_back({piece.offset.value, piece.offset.value + piece.size.value});
  }
}

uint64_t DispatchExecutor::State::most_bound_bytes() const {
  return std::min<uint64_t>(device.facts().max_storage_range, shader::kMostBoundBytes);
}

std::expected<Binding, std::string> DispatchExecutor::State::bind(const TracedBuffer& buffer) {
  const uint64_t bytes = buffer.span.size.value;
  if (bytes == 0) return Binding{empty.handle(), 0, empty.size().value, {0, 0}, {}};
  const auto pieces = memory.pieces(buffer.span.begin, buffer.span.size);
  if (!pieces) return std::unexpected(std::string("not all of it is mapped"));
  if (pieces->size() != 1) return std::unexpected(std::string("it is not contiguous in memory"));
  const uint64_t begin = pieces->front().offset.value;
  const auto slice = arena.find({begin});
  if (!slice || slice->available < bytes) return std::unexpected(std::string("it crosses device buffers"));
  Binding binding;
  binding.buffer = slice->buffer;
  binding.offset = align_down(slice->offset, device.facts().storage_alignment);
  const uint64_t delta = slice->offset - binding.offset;
  // Whole dwords: the last one may hold bytes behind the descriptor's end, which the program's own check keeps out.
  binding.range = align_up(delta + bytes, 4);
  if (binding.range > device.facts().max_storage_range || align_up(bytes, 4) > slice->available) {
    return std::unexpected(fmt::format("{} bytes are more than one binding shows", binding.range));
  }
  binding.info = {static_cast<uint32_t>(delta), static_cast<uint32_t>(bytes)};
  binding.arena = {begin, begin + bytes};
  return binding;
}

}  // namespace orrery::dispatch
