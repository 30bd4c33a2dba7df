// Keeps mirrors and the arena equal where it matters: before work, what the CPU wrote reaches the mirrors that the work
// looks at; behind it, the bytes that the device changed reach the arena, and no others (docs/decisions/033).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gpu-service/dispatch/arena_buffers.hpp"
#include "gpu-service/dispatch/batch_ring.hpp"
#include "gpu-service/dispatch/page_passes.hpp"
#include "gpu-service/dispatch/pending_writes.hpp"
#include "gpu-service/dispatch/redo.hpp"
#include "gpu-service/dispatch/sync_counters.hpp"
#include "gpu-service/memory/page_bits.hpp"
#include "gpu-service/memory/write_tracker.hpp"

namespace orrery::dispatch {

// Bytes that both sides changed.
struct WriteConflict {
  uint64_t bytes = 0;
  ArenaOffset first;
};

class MirrorSync {
 public:
  // All of these must outlive it. `per_run`: the naive method.
  static Result<std::unique_ptr<MirrorSync>> create(const vulkan::Device& device, std::span<std::byte> arena,
                                                    ArenaBuffers& buffers, memory::WriteTracker& tracker,
                                                    BatchRing& batches, bool per_run);

  // What ArenaBuffers::update() answered, and the whole map changed.
  void made_anew(std::span<const ArenaRange> mirrors);
  // An acquire point: the next wish harvests first.
  void acquire() { harvest_due_ = true; }
  // Known to have changed, by reports or by the service's own hand.
  void changed(std::span<const ArenaRange> ranges);
  // Once per acquire point, when work is there that looks at memory; the naive method harvests each copied run before
  // all work that may look anywhere.
  void harvest_if_due();
  void harvest_for_anything();
  // Records what the work behind it needs: mirrors of these ranges hold what the last harvest left.
  Result<void> want(std::span<const ArenaRange> ranges);
  // The same for work that may look anywhere.
  Result<void> want_all();
  // Records the write-back of what recorded work may have changed; complete after the device was waited for and
  // finish_write_back() was called. `redo`, if there is one, takes the bytes instead of the arena.
  Result<void> write_back(const PendingWrites& pending, Redo* redo = nullptr);
  // Answers bytes that both sides changed, if any.
  Result<std::optional<WriteConflict>> finish_write_back();
  // Ranges whose imports are stale, found by harvests.
  std::vector<ArenaRange> take_discarded() { return std::exchange(discarded_, {}); }
  const SyncCounters& counters() const { return counters_; }

 private:
  MirrorSync(const vulkan::Device& device, std::span<std::byte> arena, ArenaBuffers& buffers,
             memory::WriteTracker& tracker, BatchRing& batches, bool per_run);
  void take(memory::Changes changes);
  Result<void> upload(std::span<const ArenaRange> ranges);
  // Runs of one piece each that are known throughout, or not at all.
  template <class Visit>
  void for_each_part(ArenaRange range, Visit&& visit) const {
    for (const bool known : {false, true}) {
      known_.for_each_run(range, known, [&](ArenaRange run) {
        while (run.begin < run.end) {
          const MirrorPiece* piece = buffers_.mirror_at(run.begin);
          if (piece == nullptr) return;
          const ArenaRange part{run.begin, std::min(run.end, piece->range.end)};
          visit(part, *piece, known);
          run.begin = part.end;
        }
      });
    }
  }

  // Adds pages to the pass that is being put together. `arena`: what PassRun::arena is to be.
  Result<void> append(PagePass pass, uint64_t arena, ArenaRange part, const MirrorPiece& piece, bool known);
  Result<void> upload_from_imports(ArenaRange part, const MirrorPiece& piece, bool known);
  Result<void> upload_through_staging(ArenaRange part, const MirrorPiece& piece, bool known);
  // Records the pass over what was appended, and forgets it.
  Result<void> record(PagePass pass);
  Result<DeviceAddress> put_list(std::span<const PassRun> runs);
  void forget_lists_when_idle();
  Result<void> record_write_back();
  Result<void> apply(const PageRecord& record, std::optional<WriteConflict>& conflict);
  // Changed pages come to the host as records.
  bool collects() const { return redo_ != nullptr || !buffers_.imports(); }
  PassReport& report() { return *reinterpret_cast<PassReport*>(report_.mapped().data()); }

  const vulkan::Device& device_;
  std::span<std::byte> arena_;
  ArenaBuffers& buffers_;
  memory::WriteTracker& tracker_;
  BatchRing& batches_;
  const bool per_run_;
  PagePasses passes_;
  vulkan::Buffer lists_, report_;     // runs of passes in flight; the write-back's report
  vulkan::Buffer staging_, records_;  // where the device can't reach the arena
  uint64_t lists_used_ = 0, staging_used_ = 0;

  memory::PageBits stale_;  // mirrored, and the mirror does not hold what the last harvest left: few, mostly
  memory::PageBits known_;  // mirror and twin hold something; they differ only where the device stored
  bool harvest_due_ = true, all_current_ = false;
  std::vector<ArenaRange> discarded_;
  std::vector<ArenaRange> written_;  // what the recorded write-back looks at
  Redo* redo_ = nullptr;             // of the recorded write-back
  std::vector<PassRun> runs_;
  uint32_t run_pages_ = 0;
  SyncCounters counters_;
};

}  // namespace orrery::dispatch
