#include "gpu-service/dispatch/mirror_sync.hpp"

#include <algorithm>
#include <cstring>

#include "shared/measure/span.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint64_t kListBytes = 4 << 20;
constexpr size_t kMostRuns = kListBytes / sizeof(PassRun) / 4;  // of one pass
constexpr uint64_t kMostPassPages = 1u << 30;
constexpr uint64_t kStagingBytes = 64 << 20;

}  // namespace

MirrorSync::MirrorSync(const vulkan::Device& device, std::span<std::byte> arena, ArenaBuffers& buffers,
                       memory::WriteTracker& tracker, BatchRing& batches, bool per_run)
    : device_(device),
      arena_(arena),
      buffers_(buffers),
      tracker_(tracker),
      batches_(batches),
      per_run_(per_run),
      stale_(arena.size()),
      known_(arena.size()) {}

Result<std::unique_ptr<MirrorSync>> MirrorSync::create(const vulkan::Device& device, std::span<std::byte> arena,
                                                       ArenaBuffers& buffers, memory::WriteTracker& tracker,
                                                       BatchRing& batches, bool per_run) {
  std::unique_ptr<MirrorSync> sync(new MirrorSync(device, arena, buffers, tracker, batches, per_run));
  auto passes = PagePasses::create(device);
  if (!passes) return std::unexpected(std::move(passes.error()));
  sync->passes_ = std::move(*passes);
  auto lists = vulkan::Buffer::create(device, {kListBytes}, vulkan::BufferPlace::upload, "page lists");
  if (!lists) return std::unexpected(std::move(lists.error()));
  sync->lists_ = std::move(*lists);
  auto report = vulkan::Buffer::create(device, {256}, vulkan::BufferPlace::shared, "write-back report");
  if (!report) return std::unexpected(std::move(report.error()));
  sync->report_ = std::move(*report);
  return sync;
}

void MirrorSync::made_anew(std::span<const ArenaRange> mirrors) {
  for (const ArenaRange& range : mirrors) {
    stale_.set(range, true);
    known_.set(range, false);
  }
  all_current_ = false;
}

void MirrorSync::changed(std::span<const ArenaRange> ranges) {
  for (const ArenaRange& range : ranges) {
    for_each_common(buffers_.mirrored(), range, [&](ArenaRange common) { stale_.set(common, true); });
  }
  if (!ranges.empty()) all_current_ = false;
}

void MirrorSync::take(memory::Changes changes) {
  changed(changes.pages);
  discarded_.insert(discarded_.end(), changes.discarded.begin(), changes.discarded.end());
}

void MirrorSync::harvest_if_due() {
  if (!std::exchange(harvest_due_, false)) return;
  const measure::Span span(measure::SpanName::harvest);
  take(tracker_.harvest());
}

void MirrorSync::harvest_for_anything() {
  if (!per_run_) return harvest_if_due();
  harvest_due_ = false;
  const measure::Span span(measure::SpanName::harvest);
  std::vector<ArenaRange> runs;
  for (const ArenaRange& range : buffers_.mirrored()) {
    stale_.for_each_run(range, false, [&](ArenaRange run) { runs.push_back(run); });
  }
  for (const ArenaRange& run : runs) take(tracker_.harvest(run));
}

Result<void> MirrorSync::want(std::span<const ArenaRange> ranges) {
  std::vector<ArenaRange> stale;
  for (const ArenaRange& range : ranges) {
    stale_.for_each_run(range, true, [&](ArenaRange run) {
      for_each_common(buffers_.mirrored(), run, [&](ArenaRange common) { stale.push_back(common); });
    });
  }
  memory::merge_ranges(stale);
  return upload(stale);
}

Result<void> MirrorSync::want_all() {
  if (all_current_) return {};
  const ArenaRange all = stale_.all();
  ORRERY_TRY(want({&all, 1}));
  all_current_ = true;
  return {};
}

Result<void> MirrorSync::upload(std::span<const ArenaRange> ranges) {
  if (ranges.empty()) return {};
  // Strictly before the copy: what the CPU writes from here on is found by the next harvest.
  for (const ArenaRange& range : ranges) tracker_.watch(range);
  forget_lists_when_idle();
  Result<void> done;
  for (const ArenaRange& range : ranges) {
    for_each_part(range, [&](ArenaRange part, const MirrorPiece& piece, bool known) {
      if (!done) return;
      done = buffers_.imports() ? upload_from_imports(part, piece, known) : upload_through_staging(part, piece, known);
    });
  }
  if (done) done = record(PagePass::upload);
  if (!done) return done;
  for (const ArenaRange& range : ranges) {
    counters_.uploaded_bytes += range.size();
    stale_.set(range, false);
    known_.set(range, true);
  }
  return {};
}

Result<void> MirrorSync::append(PagePass pass, uint64_t arena, ArenaRange part, const MirrorPiece& piece, bool known) {
  const uint64_t pages = part.size() / kHostPage;
  if (runs_.size() >= kMostRuns || run_pages_ + pages > kMostPassPages) ORRERY_TRY(record(pass));
  const uint64_t inside = part.begin - piece.range.begin;
  runs_.push_back(
      {arena, piece.buffer.address().value + inside, piece.twin.address().value + inside, run_pages_, known ? 0u : 1u});
  run_pages_ += static_cast<uint32_t>(pages);
  return {};
}

Result<void> MirrorSync::upload_from_imports(ArenaRange part, const MirrorPiece& piece, bool known) {
  while (part.begin < part.end) {
    const auto import = buffers_.find_import({part.begin});
    if (!import) return fail(ExitCode::internal, "arena page {:#x} is mirrored and not imported", part.begin);
    const ArenaRange here{part.begin, std::min(part.end, part.begin + import->available)};
    ORRERY_TRY(append(PagePass::upload, import->address.value, here, piece, known));
    part.begin = here.end;
  }
  return {};
}

// Where the device can't reach the arena, the CPU copies.
Result<void> MirrorSync::upload_through_staging(ArenaRange part, const MirrorPiece& piece, bool known) {
  if (!staging_) {
    auto made = vulkan::Buffer::create(device_, {kStagingBytes}, vulkan::BufferPlace::upload, "staging");
    if (!made) return std::unexpected(std::move(made.error()));
    staging_ = std::move(*made);
  }
  while (part.begin < part.end) {
    if (staging_used_ == kStagingBytes) {
      ORRERY_TRY(record(PagePass::upload));
      ORRERY_TRY(batches_.wait());
      lists_used_ = staging_used_ = 0;
    }
    const ArenaRange here{part.begin, part.begin + std::min(part.size(), kStagingBytes - staging_used_)};
    std::memcpy(staging_.mapped().data() + staging_used_, arena_.data() + here.begin, here.size());
    ORRERY_TRY(append(PagePass::upload, staging_.address().value + staging_used_, here, piece, known));
    staging_used_ += here.size();
    part.begin = here.end;
  }
  return {};
}

Result<DeviceAddress> MirrorSync::put_list(std::span<const PassRun> runs) {
  const uint64_t bytes = align_up(runs.size_bytes(), 64);
  if (lists_used_ + bytes > kListBytes) {
    ORRERY_TRY(batches_.wait());
    lists_used_ = 0;
  }
  std::memcpy(lists_.mapped().data() + lists_used_, runs.data(), runs.size_bytes());
  const DeviceAddress address = lists_.address() + Bytes{lists_used_};
  lists_used_ += bytes;
  return address;
}

void MirrorSync::forget_lists_when_idle() {
  if (batches_.idle()) lists_used_ = staging_used_ = 0;
}

Result<void> MirrorSync::record(PagePass pass) {
  // Lists larger than a quarter of their memory go in parts; the numbers of pages start anew in each.
  for (size_t begin = 0; begin < runs_.size(); begin += kMostRuns) {
    const size_t end = std::min(begin + kMostRuns, runs_.size());
    const uint32_t first = runs_[begin].first, behind = end < runs_.size() ? runs_[end].first : run_pages_;
    for (size_t i = begin; i < end; ++i) runs_[i].first -= first;
    PassInput input;
    auto list = put_list(std::span(runs_).subspan(begin, end - begin));
    if (!list) return std::unexpected(std::move(list.error()));
    input.runs = *list;
    input.report = report_.address();
    input.run_count = static_cast<uint32_t>(end - begin);
    input.page_count = behind - first;
    if (pass == PagePass::collect) {
      input.records = records_.address();
      input.record_room = static_cast<uint32_t>(records_.size().value / sizeof(PageRecord));
    }
    auto commands = batches_.step();
    if (!commands) return std::unexpected(std::move(commands.error()));
    passes_.record(*commands, pass, input);
    if (pass == PagePass::upload) ++counters_.upload_passes;
  }
  runs_.clear();
  run_pages_ = 0;
  return {};
}

}  // namespace orrery::dispatch
