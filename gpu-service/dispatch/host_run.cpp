#include "gpu-service/dispatch/host_run.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <thread>

#include "gpu-service/dispatch/host_memory.hpp"

namespace orrery::dispatch {
namespace {

namespace interpret = shader::interpret;
using Group = std::array<uint32_t, 3>;

constexpr size_t kMostAtOnce = 4;  // groups that a thread takes

interpret::Dispatch dispatch_of(const shader::Program& program, const DispatchState& state,
                                const LaunchGeometry& geometry) {
  interpret::Dispatch d;
  d.program = &program;
  d.program_address = state.program.value;
  d.wave = geometry.wave;
  d.rsrc1 = state.rsrc1;
  d.rsrc2 = state.rsrc2;
  d.user_data = state.user_data;
  d.group_size = geometry.group_size;
  d.threads = geometry.threads;
  d.scratch_dwords = geometry.scratch_wave_bytes / 4 / geometry.wave;
  // With SCRATCH_EN the first four user registers are the private segment's descriptor (docs/decisions/021).
  if (geometry.scratch) d.private_buffer_sgpr = 0;
  return d;
}

// What one thread found.
struct Share {
  NotesByPage notes;
  interpret::Outcome outcome;
  uint64_t steps = 0, escapes = 0;
  std::string failed;
  bool left_out = false;
};

class Running {
 public:
  Running(const interpret::Dispatch& dispatch, std::span<const Group> groups, PageSnapshots& snapshots,
          uint64_t most_steps, size_t at_once)
      : dispatch_(dispatch), groups_(groups), snapshots_(snapshots), most_steps_(most_steps), at_once_(at_once) {}

  std::vector<Share> run(unsigned threads) {
    std::vector<Share> shares(threads);
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads; ++i) others.emplace_back([this, &shares, i] { work(shares[i]); });
      work(shares[0]);
    }
    return shares;
  }

 private:
  void work(Share& share) {
    HostMemory memory(snapshots_);
    interpret::Dispatch dispatch = dispatch_;
    while (!stop_.load(std::memory_order_relaxed)) {
      const size_t first = next_.fetch_add(at_once_);
      if (first >= groups_.size()) break;
      for (const Group& group : groups_.subspan(first, std::min(at_once_, groups_.size() - first))) {
        const uint64_t done = steps_.load(std::memory_order_relaxed);
        dispatch.step_limit = done < most_steps_ ? most_steps_ - done : 1;
        const auto outcome = interpret::run_groups(dispatch, {&group, 1}, memory);
        memory.next_group();
        steps_.fetch_add(outcome.steps, std::memory_order_relaxed);
        share.steps += outcome.steps;
        share.escapes += outcome.escapes.count;
        if (outcome.refusal) {
          share.failed = fmt::format("offset {:#x}: {}: {}", outcome.refusal->offset, outcome.refusal->mnemonic,
                                     outcome.refusal->reason);
        } else if (memory.failed() != nullptr) {
          share.failed = memory.failed();
        }
        share.left_out = memory.read_what_was_left_out();
        if (!share.failed.empty() || share.left_out) stop_.store(true, std::memory_order_relaxed);
        if (stop_.load(std::memory_order_relaxed)) break;
      }
    }
    share.notes = memory.notes();
  }

  const interpret::Dispatch& dispatch_;
  std::span<const Group> groups_;
  PageSnapshots& snapshots_;
  const uint64_t most_steps_;
  const size_t at_once_;
  std::atomic<size_t> next_{0};
  std::atomic<uint64_t> steps_{0};
  std::atomic<bool> stop_{false};
};

// What is mapped of [begin, end).
void add_mapped(std::vector<memory::GuestSpan>& spans, uint64_t begin, uint64_t end,
                const memory::GuestMemory& memory) {
  for (const protocol::MapEntry& entry : memory.entries()) {
    const uint64_t low = std::max(begin, entry.guest_begin);
    const uint64_t high = std::min(end, entry.guest_begin + entry.size);
    if (low >= high) continue;
    if (!spans.empty() && spans.back().begin.value + spans.back().size.value == low) {
      spans.back().size.value += high - low;
    } else {
      spans.push_back({{low}, {high - low}});
    }
  }
}

uint64_t end_of(const memory::GuestSpan& span) { return span.begin.value + span.size.value; }

// Whole pages, as the device's page table has them. A sample says nothing of what lies between the places it found: all
// that is mapped there may be stored to, and a page on either side.
std::vector<memory::GuestSpan> writable_of(const std::vector<memory::GuestSpan>& found, bool sampled,
                                           const memory::GuestMemory& memory) {
  std::vector<memory::GuestSpan> writable;
  if (found.empty()) return writable;
  if (sampled) {
    const uint64_t first = align_down(found.front().begin.value, kHostPage);
    add_mapped(writable, first - std::min(first, kHostPage), align_up(end_of(found.back()), kHostPage) + kHostPage,
               memory);
    return writable;
  }
  uint64_t begin = 0, end = 0;
  for (const memory::GuestSpan& span : found) {
    const uint64_t low = align_down(span.begin.value, kHostPage);
    if (low > end) {
      add_mapped(writable, begin, end, memory);
      begin = low;
    }
    end = align_up(end_of(span), kHostPage);
  }
  add_mapped(writable, begin, end, memory);
  return writable;
}

}  // namespace

std::vector<Group> groups_to_run(const LaunchGeometry& geometry, uint64_t most_waves) {
  const uint64_t rows = geometry.count[1], layers = geometry.count[2];
  const uint64_t row = geometry.count[0], layer = row * rows;
  const bool countable = layers == 0 || layer <= UINT64_MAX / layers;
  const uint64_t all = countable ? layer * layers : UINT64_MAX;
  const bool whole = all <= most_waves / std::max<uint64_t>(geometry.waves_per_group(), 1);
  const uint64_t count = whole ? all : std::min(all, kMostSampledGroups);
  std::vector<Group> groups;
  groups.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    // 128 bits: the last index times the step may pass 64.
    const auto n =
        whole || count == 1 ? i : static_cast<uint64_t>(static_cast<unsigned __int128>(all - 1) * i / (count - 1));
    groups.push_back({static_cast<uint32_t>(geometry.first[0] + n % row),
                      static_cast<uint32_t>(geometry.first[1] + n / row % rows),
                      static_cast<uint32_t>(geometry.first[2] + n / layer)});
  }
  return groups;
}

std::expected<HostRun, HostRunFailure> run_on_host(const shader::Program& program, const DispatchState& state,
                                                   const LaunchGeometry& geometry, const memory::GuestMemory& memory,
                                                   const HostRunLimits& limits) {
  const auto groups = groups_to_run(geometry, limits.most_waves);
  interpret::Dispatch dispatch = dispatch_of(program, state, geometry);
  // Private memory holds what the lanes put there, so all of it is run.
  const std::vector<interpret::StepUse> uses =
      limits.whole || geometry.scratch ? std::vector<interpret::StepUse>{} : interpret::address_slice(program);
  dispatch.uses = uses;
  const unsigned cores = limits.threads != 0 ? limits.threads : std::max(1u, std::thread::hardware_concurrency());
  const size_t at_once = std::clamp<size_t>(groups.size() / (4 * size_t{cores}), 1, kMostAtOnce);
  const auto threads = static_cast<unsigned>(std::clamp<size_t>((groups.size() + at_once - 1) / at_once, 1, cores));
  PageSnapshots snapshots(memory);
  const auto shares = Running(dispatch, groups, snapshots, limits.most_steps, at_once).run(threads);
  HostRun result;
  NotesByPage notes;
  std::string failed;
  for (const Share& share : shares) {
    if (share.left_out && !limits.whole) {
      // An address depends on what the program itself stores.
      HostRunLimits again = limits;
      again.whole = true;
      return run_on_host(program, state, geometry, memory, again);
    }
    if (failed.empty()) failed = share.failed;
    for (const auto& [page, found] : share.notes) notes[page].add(found);
    result.steps += share.steps;
    result.escapes += share.escapes;
  }
  if (!failed.empty()) return std::unexpected(HostRunFailure{std::move(failed), notes_of(notes, snapshots)});
  uint64_t all = 1;
  for (const uint32_t count : geometry.count) all = all > UINT32_MAX ? all : all * count;
  result.groups = groups.size();
  result.waves = groups.size() * geometry.waves_per_group();
  result.sampled = groups.size() < all;
  result.written = spans_of(notes, &PageNotes::stored);
  result.writable = writable_of(result.written, result.sampled, memory);
  result.notes = notes_of(notes, snapshots);
  // Presence, not bytes.
  result.notes.mapped.insert(result.notes.mapped.end(), result.writable.begin(), result.writable.end());
  return result;
}

}  // namespace orrery::dispatch
