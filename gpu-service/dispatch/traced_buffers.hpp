// Which guest ranges a dispatch's bound buffers and images are, and the memo that serves such an answer again while
// guest memory still answers what it was worked out from.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/memory/recording_memory.hpp"
#include "gpu-service/shader/translate.hpp"
#include "shared/content_hash.hpp"

namespace orrery::dispatch {

// A bound buffer or an image of a dispatch as its descriptor says. bytes == 0: nothing is touched.
struct TracedBuffer {
  memory::GuestSpan span;
  bool read = false, written = false;
  std::vector<uint32_t> words = {};  // of an image's T#, a sampler's S# or a typed buffer's V#
  friend bool operator==(const TracedBuffer&, const TracedBuffer&) = default;
};
// One per BoundBuffer of the module, in order, then its images, then its samplers; or why the program can't be bound
// ("buffer 2: it is swizzled").
using TracedBuffers = std::expected<std::vector<TracedBuffer>, std::string>;

// Follows every descriptor of `buffers` through `memory`, which notes what is looked at.
TracedBuffers trace_buffers(std::span<const shader::BoundBuffer> buffers, const DispatchState& dispatch,
                            uint64_t most_bytes, memory::RecordingMemory& memory);

TracedBuffers trace_descriptors(const shader::Module& module, const DispatchState& dispatch, uint64_t most_bytes,
                                memory::RecordingMemory& memory);
// The module's specialization constants; `traced` is an answer of trace_descriptors.
std::vector<uint32_t> descriptor_constants(const shader::Module& module, std::span<const TracedBuffer> traced);

// Two dispatches ask the same when program, code and registers are the same, wherever they came from.
struct TraceKey {
  GuestAddress program;
  ContentHash code;
  DispatchState state;  // queue, sequence and packet are cleared
  bool host_runs_allowed = false;
  friend bool operator==(const TraceKey&, const TraceKey&) = default;
};
TraceKey trace_key(const DispatchState& state, ContentHash code, bool host_runs_allowed);

enum class TraceMiss : uint8_t { unknown, bytes_changed, no_longer_mapped, now_mapped, written_by_earlier_work, count };
const char* name(TraceMiss miss);
// Who asks; both are served from the same answers.
enum class TraceAsker : uint8_t { preparation, queued_writes };
using TraceMisses = std::array<uint64_t, static_cast<size_t>(TraceMiss::count)>;
std::string describe(const TraceMisses& misses);  // "2 misses (1 bytes it read changed, ...)"
struct TraceCounters {
  uint64_t hits = 0;
  uint64_t hits_of_queued_writes = 0;  // of them
  TraceMisses misses{};
  uint64_t not_kept = 0;    // answers whose notes prove nothing
  uint64_t read_spans = 0;  // hashed to prove hits
};
std::string describe(const TraceCounters& counters);  // "7 hits, 2 misses (1 bytes it read changed, ...)"

// Answers are kept newest last; refusals are answers. For any thread.
class TracedBuffersMemo {
 public:
  static constexpr size_t kMostAnswers = 64;

  explicit TracedBuffersMemo(size_t most = kMostAnswers) : most_(most) {}
  // The kept answer when memory still answers as noted; nothing otherwise, and counts why. `may_change`: recorded work
  // may still write there, so that the bytes prove nothing. `why`: set where nothing is answered.
  std::optional<TracedBuffers> find(const TraceKey& key, const memory::GuestMemory& memory,
                                    const std::function<bool(memory::GuestSpan)>& may_change,
                                    TraceAsker asker = TraceAsker::preparation, TraceMiss* why = nullptr);
  // Keeps an answer in place of an older one for the same key; the oldest goes when there are too many.
  void keep(TraceKey key, TracedBuffers answer, memory::MemoryNotes notes);
  TraceCounters counters() const;
  size_t size() const;

 private:
  struct Kept {
    TraceKey key;
    TracedBuffers answer;
    memory::MemoryNotes notes;
  };
  const size_t most_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Kept>> kept_;
  TraceCounters counters_;
};

}  // namespace orrery::dispatch
