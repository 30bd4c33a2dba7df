// What the command processor asks of the layers below it. Work is recorded in stream order; finish() makes all of it
// complete and visible in guest memory. The real one is DispatchExecutor; tests use a recording one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu-service/draw/draw_state.hpp"
#include "gpu-service/memory/recording_memory.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::dispatch {

// Something that is not handled: shown to the user by name and counted; the stream goes on.
struct Refusal {
  std::string kind;  // "packet", "program", "dispatch", "address", ...
  std::string text;  // with queue, offset, bytes / program, offset, mnemonic
};

// Everything a dispatch depends on besides memory. Register facts: AMD public headers (gc_10_3_0), SH registers.
struct DispatchState {
  GuestAddress program;  // COMPUTE_PGM_LO/HI << 8
  uint32_t rsrc1 = 0;    // COMPUTE_PGM_RSRC1 0x2E12
  uint32_t rsrc2 = 0;    // COMPUTE_PGM_RSRC2 0x2E13
  uint32_t rsrc3 = 0;    // COMPUTE_PGM_RSRC3 0x2E28
  uint32_t initiator =
      0;  // DISPATCH_INITIATOR; bit 15 CS_W32_EN, bit 2 FORCE_START_AT_000, bit 5 USE_THREAD_DIMENSIONS
  std::array<uint32_t, 3> group_size{};    // COMPUTE_NUM_THREAD_X/Y/Z, full part (15:0)
  std::array<uint32_t, 3> partial_size{};  // (31:16), used with PARTIAL_TG_EN
  std::array<uint32_t, 3> groups{};        // group counts (or threads, see initiator)
  std::array<uint32_t, 3> start{};         // COMPUTE_START_X/Y/Z
  std::array<uint32_t, 16> user_data{};    // COMPUTE_USER_DATA_0..15, 0x2E40
  uint32_t tmpring_size = 0;               // COMPUTE_TMPRING_SIZE 0x2E18
  // Where it came from, for reports.
  uint32_t queue = 0;
  uint64_t sequence = 0;
  uint32_t packet_offset = 0;  // dwords
  friend bool operator==(const DispatchState&, const DispatchState&) = default;
};

// What a dispatch may write, told without running it.
struct DispatchWrites {
  std::vector<memory::GuestSpan> spans;
  std::string unbounded;  // why nothing bounds them; empty: `spans` is all
};
// Asked of a range: may work that is queued before the dispatch still write there?
using MayChange = std::function<bool(memory::GuestSpan)>;

class Executor {
 public:
  virtual ~Executor() = default;
  // Records a dispatch. Refusals come back (empty: it was recorded whole).
  virtual std::vector<Refusal> dispatch(const DispatchState& state) = 0;
  // The same without waiting. Nothing: what it needs is still being prepared, nothing was recorded; ask again.
  virtual std::optional<std::vector<Refusal>> try_dispatch(const DispatchState& state) { return dispatch(state); }
  // A dispatch like this comes later: whatever takes long may begin. By any thread; does not wait; may do nothing.
  virtual void prepare(const DispatchState& /*state*/) {}
  // Any thread may ask: what the dispatch may write. `memory` is the asking thread's own; `may_change` says which of
  // its bytes prove nothing. Never runs waves and never waits for a preparation.
  virtual DispatchWrites writes_of(const DispatchState& /*state*/, const memory::GuestMemory& /*memory*/,
                                   const MayChange& /*may_change*/) {
    return {{}, "this executor does not tell"};
  }
  // Records a draw.
  virtual std::vector<Refusal> draw(const draw::DrawState& /*state*/) {
    return {{"draw", "this executor does not draw"}};
  }
  // Records a fill / copy of guest memory (DMA_DATA). Ordered with dispatches.
  virtual std::vector<Refusal> fill(GuestAddress destination, Bytes size, uint32_t value) = 0;
  virtual std::vector<Refusal> copy(GuestAddress destination, GuestAddress source, Bytes size) = 0;
  // The stream's decisions depend on these bytes: a later store there must not be seen by who reads them again.
  virtual void will_read(GuestAddress /*address*/, Bytes /*size*/) {}
  // A stretch was committed: what runs again begins behind it.
  virtual void stretch_ended() {}
  // The address map may have changed and the CPU may have written: an acquire point.
  virtual Result<void> acquire() = 0;
  // Waits until all recorded work is complete and visible in guest memory, or handed to a Redo. Refusals found on the
  // device (escapes) come back. An error means that the device is lost: this life of the service ends.
  virtual Result<std::vector<Refusal>> finish() = 0;
};

}  // namespace orrery::dispatch
