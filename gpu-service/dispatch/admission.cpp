// Where stores go: directly to guest memory where running them again is harmless, else into mirrors, whose changes a
// Redo takes.
#include "gpu-service/dispatch/executor_state.hpp"
#include "shared/log.hpp"

namespace orrery::dispatch {

Result<bool> DispatchExecutor::State::admit(const Access& access) {
  if (options.redo == nullptr) return false;
  bool moved = false;
  if (Footprint::in_place(access)) {
    const bool there =
        access.writes_anything
            ? arena.mirrors_everything()
            : std::ranges::all_of(access.writes, [&](const ArenaRange& range) { return arena.mirrored(range); });
    // Once moved, what found no room stays where it is.
    if (!there && !arena.incomplete()) {
      ORRERY_TRY(move_to_mirrors(access));
      moved = true;
    }
    takes_redo = true;
  } else if (footprint.touched_by(access)) {
    if (arena.mirrors_everything()) {
      takes_redo = true;
    } else {
      // With a commit in between nothing that read these bytes runs again.
      ++counters.cut_stretches;
      ORRERY_TRY(wait_all());
      if (auto committed = options.redo->commit(true); !committed) {
        lost = committed.error();
        return std::unexpected(*lost);
      }
    }
  }
  footprint.add(access);
  return moved;
}

Result<void> DispatchExecutor::State::move_to_mirrors(const Access& access) {
  ++counters.moved_to_mirrors;
  ORRERY_TRY(wait_all());
  if (access.writes_anything) {
    log::debug("a program stores to addresses that it computes: guest memory is mirrored from here on");
    arena.mirror_everything();
  } else {
    arena.move_to_mirrors(access.writes);
  }
  auto taken = take_map();
  if (!taken) lost = taken.error();
  return taken;
}

void DispatchExecutor::will_read(GuestAddress address, Bytes size) {
  if (state_->options.redo == nullptr) return;
  const auto pieces = state_->memory.pieces(address, size);
  for (const auto& piece : pieces.value_or(std::vector<memory::Piece>{})) {
    state_->footprint.add({piece.offset.value, piece.offset.value + piece.size.value});
  }
}

void DispatchExecutor::stretch_ended() {
  state_->footprint.clear();
  state_->takes_redo = false;
  if (state_->options.guard != nullptr) state_->options.guard->over();
}

}  // namespace orrery::dispatch
