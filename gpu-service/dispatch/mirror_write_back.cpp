// The way back: bytes that the device changed, and no others.
#include <bit>
#include <cstring>

#include "gpu-service/dispatch/mirror_sync.hpp"
#include "shared/differing_bytes.hpp"
#include "shared/log.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint64_t kRecords = 4096;  // pages that one pass hands to the host

}  // namespace

Result<void> MirrorSync::write_back(const PendingWrites& pending, Redo* redo) {
  redo_ = redo;
  written_.clear();
  const auto add = [&](ArenaRange range) {
    range = {align_down(range.begin, kHostPage), align_up(range.end, kHostPage)};
    for_each_common(buffers_.mirrored(), range, [&](ArenaRange common) {
      known_.for_each_run(common, true, [&](ArenaRange run) { written_.push_back(run); });
    });
  };
  if (pending.anything()) {
    for (const ArenaRange& range : buffers_.mirrored()) add(range);
  } else {
    for (const ArenaRange& range : pending.ranges()) add(range);
  }
  memory::merge_ranges(written_);
  if (written_.empty()) return {};
  if (collects() && !records_) {
    auto made =
        vulkan::Buffer::create(device_, {kRecords * sizeof(PageRecord)}, vulkan::BufferPlace::shared, "records");
    if (!made) return std::unexpected(std::move(made.error()));
    records_ = std::move(*made);
  }
  forget_lists_when_idle();
  report() = {};
  for (const ArenaRange& range : written_) {
    tracker_.own_store(range);
    counters_.looked_at_pages += range.size() / kHostPage;
  }
  return record_write_back();
}

Result<void> MirrorSync::record_write_back() {
  const bool imports = !collects();
  const PagePass pass = imports ? PagePass::write_back : PagePass::collect;
  Result<void> done;
  for (const ArenaRange& range : written_) {
    for_each_part(range, [&](ArenaRange part, const MirrorPiece& piece, bool known) {
      while (done && part.begin < part.end) {
        const auto import = imports ? buffers_.find_import({part.begin}) : std::nullopt;
        if (imports && !import) {
          done = fail(ExitCode::internal, "arena page {:#x} is mirrored and not imported", part.begin);
          return;
        }
        const ArenaRange here{part.begin, imports ? std::min(part.end, part.begin + import->available) : part.end};
        done = append(pass, imports ? import->address.value : here.begin, here, piece, known);
        part.begin = here.end;
      }
    });
  }
  return done ? record(pass) : done;
}

Result<std::optional<WriteConflict>> MirrorSync::finish_write_back() {
  std::optional<WriteConflict> conflict;
  if (written_.empty()) return conflict;
  if (!collects()) {
    const PassReport found = report();
    counters_.written_back_bytes += found.bytes;
    if (found.conflicts != 0) {
      const DeviceAddress first{found.first_low | static_cast<uint64_t>(found.first_high) << 32};
      conflict = {found.conflicts, buffers_.offset_of_import(first).value_or(ArenaOffset{})};
    }
  }
  while (collects()) {
    const uint64_t changed = report().pages, here = std::min(changed, kRecords);
    const auto* records = reinterpret_cast<const PageRecord*>(records_.mapped().data());
    for (uint64_t i = 0; i < here; ++i) {
      if (auto applied = apply(records[i], conflict); !applied) return std::unexpected(std::move(applied.error()));
    }
    if (changed <= kRecords) break;
    // The rest still differs from its twin: another round finds it.
    report() = {};
    ORRERY_TRY(record_write_back());
    ORRERY_TRY(batches_.wait());
    forget_lists_when_idle();
  }
  written_.clear();
  if (conflict) counters_.conflicts += conflict->bytes;
  return conflict;
}

Result<void> MirrorSync::apply(const PageRecord& record, std::optional<WriteConflict>& conflict) {
  if (record.offset % kHostPage != 0 || record.offset > arena_.size() - kHostPage) return {};  // a driver's mistake
  std::byte* const to = arena_.data() + record.offset;
  constexpr size_t kBlock = 64;
  for (size_t block = 0; block < kHostPage; block += kBlock) {
    const std::byte* const twin = record.twin.data() + block;
    const uint64_t stored = differing_bytes(record.mirror.data() + block, twin);
    if (stored == 0) continue;
    counters_.written_back_bytes += static_cast<uint64_t>(std::popcount(stored));
    if (const uint64_t both = stored & differing_bytes(to + block, twin); both != 0) {
      if (!conflict)
        conflict = WriteConflict{0, {record.offset + block + static_cast<uint64_t>(std::countr_zero(both))}};
      conflict->bytes += static_cast<uint64_t>(std::popcount(both));
    }
    if (redo_ != nullptr) continue;
    for (uint64_t left = stored; left != 0; left &= left - 1) {
      const size_t i = block + static_cast<size_t>(std::countr_zero(left));
      to[i] = record.mirror[i];
    }
  }
  return redo_ == nullptr ? Result<void>{} : redo_->changed({record.offset}, record.mirror, record.twin);
}

}  // namespace orrery::dispatch
