#include "gpu-service/dispatch/traced_buffers.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/dispatch/buffer_descriptor.hpp"
#include "gpu-service/dispatch/descriptor_source.hpp"
#include "gpu-service/dispatch/image_extent.hpp"
#include "gpu-service/shader/descriptor_constants.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {

namespace {

// What a dispatch stores into a table that it reads, later waves may see.
TracedBuffers no_table_written(std::vector<TracedBuffer> traced, size_t buffers,
                               const memory::RecordingMemory& memory) {
  for (size_t i = 0; i < traced.size(); ++i) {
    if (!traced[i].written || traced[i].span.size.value == 0 || !memory.has_read(traced[i].span)) continue;
    const bool image = i >= buffers;
    return std::unexpected(
        fmt::format("{} {}: descriptors lie in it", image ? "image" : "buffer", image ? i - buffers : i));
  }
  return traced;
}

}  // namespace

TracedBuffers trace_buffers(std::span<const shader::BoundBuffer> buffers, const DispatchState& dispatch,
                            uint64_t most_bytes, memory::RecordingMemory& memory) {
  const auto read = [&](GuestAddress at, std::span<std::byte> out) { return memory.read(at, out); };
  std::vector<TracedBuffer> traced;
  traced.reserve(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto unbound = [&](std::string_view why) { return std::unexpected(fmt::format("buffer {}: {}", i, why)); };
    const auto words = read_descriptor(buffers[i].source, dispatch, read);
    if (!words) return unbound(words.error());
    const BufferDescriptor descriptor = decode_descriptor(*words);
    const BindableExtent extent = bindable_extent(descriptor, buffers[i].scalar);
    if (!extent.bytes) return unbound(extent.reason);
    if (*extent.bytes > most_bytes) {
      return unbound(fmt::format("{} bytes are more than one binding shows", *extent.bytes));
    }
    if (*extent.bytes != 0 && !memory.mapped(descriptor.base, {*extent.bytes})) {
      return unbound("not all of it is mapped");
    }
    traced.push_back({{descriptor.base, {*extent.bytes}}, buffers[i].read, buffers[i].written});
    if (buffers[i].typed) traced.back().words = {words->begin(), words->end()};
  }
  return no_table_written(std::move(traced), buffers.size(), memory);
}

TracedBuffers trace_descriptors(const shader::Module& module, const DispatchState& dispatch, uint64_t most_bytes,
                                memory::RecordingMemory& memory) {
  const auto read = [&](GuestAddress at, std::span<std::byte> out) { return memory.read(at, out); };
  auto buffers = trace_buffers(module.buffers, dispatch, most_bytes, memory);
  if (!buffers) return buffers;
  std::vector<TracedBuffer> traced = std::move(*buffers);
  for (size_t i = 0; i < module.images.size(); ++i) {
    const shader::TracedImage& image = module.images[i];
    const auto words = read_image(image.source, dispatch, read);
    if (!words) return std::unexpected(fmt::format("image {}: {}", i, words.error()));
    traced.push_back({image_extent(*words).value_or(memory::GuestSpan{}),
                      image.read,
                      image.written,
                      {words->begin(), words->end()}});
  }
  for (size_t i = 0; i < module.samplers.size(); ++i) {
    const auto words = read_descriptor(module.samplers[i], dispatch, read);
    if (!words) return std::unexpected(fmt::format("sampler {}: {}", i, words.error()));
    traced.push_back({{}, false, false, {words->begin(), words->end()}});
  }
  return no_table_written(std::move(traced), module.buffers.size(), memory);
}

std::vector<uint32_t> descriptor_constants(const shader::Module& module, std::span<const TracedBuffer> traced) {
  if (!module.has_constants()) return {};
  using shader::DescriptorConstants;
  std::vector<DescriptorConstants::ImageWords> images(module.images.size());
  std::vector<DescriptorConstants::SamplerWords> samplers(module.samplers.size());
  std::vector<DescriptorConstants::BufferWords> buffers(module.buffers.size());
  const auto of_images = traced.subspan(module.buffers.size());
  const auto of_samplers = of_images.subspan(images.size());
  for (size_t i = 0; i < images.size(); ++i) std::ranges::copy(of_images[i].words, images[i].begin());
  for (size_t i = 0; i < samplers.size(); ++i) std::ranges::copy(of_samplers[i].words, samplers[i].begin());
  for (size_t i = 0; i < buffers.size(); ++i)
    if (module.buffers[i].typed) buffers[i] = {traced[i].words[1], traced[i].words[3]};
  return DescriptorConstants::values(images, samplers, buffers);
}

TraceKey trace_key(const DispatchState& state, ContentHash code, bool host_runs_allowed) {
  TraceKey key{state.program, code, state, host_runs_allowed};
  key.state.queue = 0;
  key.state.sequence = 0;
  key.state.packet_offset = 0;
  return key;
}

std::optional<TracedBuffers> TracedBuffersMemo::find(const TraceKey& key, const memory::GuestMemory& memory,
                                                     const std::function<bool(memory::GuestSpan)>& may_change,
                                                     TraceAsker asker, TraceMiss* missed) {
  std::shared_ptr<const Kept> kept;
  {
    const measure::CountedLock lock(mutex_);
    const auto found = std::ranges::find_if(kept_, [&](const auto& k) { return k->key == key; });
    if (found != kept_.end()) kept = *found;
  }
  TraceMiss why = TraceMiss::unknown;
  uint64_t read_spans = 0;
  const auto check =
      kept ? memory::check_notes(kept->notes, memory, may_change, read_spans) : memory::NotesCheck::bytes_changed;
  const measure::CountedLock lock(mutex_);
  counters_.read_spans += read_spans;
  if (kept) {
    switch (check) {
      case memory::NotesCheck::same:
        ++counters_.hits;
        if (asker == TraceAsker::queued_writes) ++counters_.hits_of_queued_writes;
        return kept->answer;
      case memory::NotesCheck::bytes_changed:
        why = TraceMiss::bytes_changed;
        break;
      case memory::NotesCheck::no_longer_mapped:
        why = TraceMiss::no_longer_mapped;
        break;
      case memory::NotesCheck::now_mapped:
        why = TraceMiss::now_mapped;
        break;
      case memory::NotesCheck::may_still_change:
        why = TraceMiss::written_by_earlier_work;
        break;
    }
  }
  ++counters_.misses[static_cast<size_t>(why)];
  if (missed != nullptr) *missed = why;
  return std::nullopt;
}

void TracedBuffersMemo::keep(TraceKey key, TracedBuffers answer, memory::MemoryNotes notes) {
  const measure::CountedLock lock(mutex_);
  std::erase_if(kept_, [&](const auto& k) { return k->key == key; });
  if (!notes.not_checkable.empty()) {
    ++counters_.not_kept;
    return;
  }
  if (kept_.size() >= most_ && !kept_.empty()) kept_.pop_front();
  kept_.push_back(std::make_shared<const Kept>(Kept{std::move(key), std::move(answer), std::move(notes)}));
}

TraceCounters TracedBuffersMemo::counters() const {
  const measure::CountedLock lock(mutex_);
  return counters_;
}

size_t TracedBuffersMemo::size() const {
  const measure::CountedLock lock(mutex_);
  return kept_.size();
}

const char* name(TraceMiss miss) {
  switch (miss) {
    case TraceMiss::unknown:
      return "never asked, or forgotten";
    case TraceMiss::bytes_changed:
      return "bytes it read changed";
    case TraceMiss::no_longer_mapped:
      return "a range is no longer mapped";
    case TraceMiss::now_mapped:
      return "a range is mapped now";
    case TraceMiss::written_by_earlier_work:
      return "earlier work writes bytes it read";
    case TraceMiss::count:
      break;
  }
  return "?";
}

std::string describe(const TraceMisses& misses) {
  uint64_t all = 0;
  std::string reasons;
  for (size_t i = 0; i < misses.size(); ++i) {
    if (misses[i] == 0) continue;
    all += misses[i];
    reasons += fmt::format("{}{} {}", reasons.empty() ? " (" : ", ", misses[i], name(static_cast<TraceMiss>(i)));
  }
  if (!reasons.empty()) reasons += ")";
  return fmt::format("{} misses{}", all, reasons);
}

std::string describe(const TraceCounters& counters) {
  return fmt::format("{} hits ({} of queued writes), {}; {} answers not kept", counters.hits,
                     counters.hits_of_queued_writes, describe(counters.misses), counters.not_kept);
}

}  // namespace orrery::dispatch
