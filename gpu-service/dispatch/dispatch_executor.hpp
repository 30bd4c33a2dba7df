// The Executor on a Vulkan device: guest programs are translated, their buffers bound or reached through the device
// page table, and batches of work are submitted. One thread uses it: the service's.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "gpu-service/dispatch/coherence.hpp"
#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/dispatch/sync_counters.hpp"
#include "gpu-service/shader/lanes/lane_gate.hpp"

namespace orrery::vulkan {
class Device;
}
namespace orrery::memory {
class GuestMemory;
class WriteTracker;
}  // namespace orrery::memory

namespace orrery::dispatch {

class Guard;
class Redo;
struct Translator;
struct TraceCounters;

struct ExecutorOptions {
  Coherence coherence = Coherence::automatic;
  // False: the device can't reach the arena and the CPU copies, as on a device that refuses host imports. Default:
  // import, unless ORRERY_IMPORT=off.
  bool import_arena = true;
  // Tells what the title's CPU wrote; must outlive the executor. Null: contents are compared.
  memory::WriteTracker* tracker = nullptr;
  // For tests and measurements. Default: what ORRERY_LAYOUT says, else the gate's own choice.
  std::optional<shader::LayoutWish> layout;
  // Threads that prepare programs ahead. 0: everything is prepared where it is asked for.
  unsigned preparation_threads = 0;
  // False: programs may not store through addresses that they compute, except where a run on the host found them.
  bool device_addressing = true;
  // Bytes of private memory and large LDS that groups have at once; a launch that would need more runs in parts.
  uint64_t most_group_memory = 256ull << 20;
  // Takes what must not be stored twice; must outlive the executor. Null: everything is stored where it belongs at
  // once.
  Redo* redo = nullptr;
  Guard* guard = nullptr;  // must outlive the executor; null: nobody watches
  // How long finish() waits for one step of the device before it gives it up for lost.
  std::chrono::seconds patience{300};
  // Grows while the device is waited for; may be null.
  std::atomic<uint64_t>* heartbeat = nullptr;
};

struct ExecutorCounters {
  uint64_t dispatches = 0, draws = 0;  // recorded
  // By route (routes.hpp):
  uint64_t bound = 0;             // trace: what they store to is bound
  uint64_t device_addressed = 0;  // through the page table only
  uint64_t host_runs = 0;         // what they store to was found by running waves on the host
  uint64_t refused = 0;
  uint64_t programs = 0;  // distinct translations tried
  uint64_t programs_refused = 0;
  uint64_t fills = 0, copies = 0;  // on the device
  uint64_t host_transfers = 0;     // fills and copies done by the CPU, after a wait
  uint64_t whole_wave = 0;         // dispatches that ran a whole wave in one invocation
  uint64_t exchanged = 0;          // dispatches that exchanged lanes through workgroup memory
  uint64_t submissions = 0;
  uint64_t tables_unsettled = 0;  // traces given up because earlier work may write anywhere
  uint64_t prepared_ahead = 0;    // preparations that workers did
  uint64_t postponed = 0;         // times a dispatch was told to ask again
  uint64_t waits_for_reads = 0;   // the device was waited for before the CPU read what it may have been writing
  uint64_t escapes = 0;           // device accesses outside the map
  uint64_t bound_bytes = 0;       // of all dispatches
  uint64_t moved_to_mirrors = 0;  // times that memory was mirrored because programs work in place
  uint64_t cut_stretches = 0;     // times that work waited for a commit, so that it could be stored directly
  SyncCounters mirrors;           // zero where programs work in the arena itself
};

class DispatchExecutor final : public Executor {
 public:
  // The device and the memory must outlive it; its arena must stay mapped. Takes the map as it is at the first
  // acquire().
  static Result<std::unique_ptr<DispatchExecutor>> create(const vulkan::Device& device, memory::GuestMemory& memory,
                                                          const ExecutorOptions& options = {});
  // With another translator: for tests.
  static Result<std::unique_ptr<DispatchExecutor>> create(const vulkan::Device& device, memory::GuestMemory& memory,
                                                          const ExecutorOptions& options, Translator translator);
  // When the device was given up because its work does not end, nothing of it is destroyed.
  ~DispatchExecutor() override;
  // The device was lost and still works on something; asking takes up to a second. Then the arena must stay mapped, and
  // whatever waits for the device would wait for ever: the process must end by _exit.
  bool given_up() const;

  // A program's refusals come back once per program and translation; later dispatches of it answer one line each.
  std::vector<Refusal> dispatch(const DispatchState& state) override;
  std::optional<std::vector<Refusal>> try_dispatch(const DispatchState& state) override;
  void prepare(const DispatchState& state) override;
  DispatchWrites writes_of(const DispatchState& state, const memory::GuestMemory& memory,
                           const MayChange& may_change) override;
  // Refusals say what of it is not drawn, without its place, so that a title's thousands are one line.
  std::vector<Refusal> draw(const draw::DrawState& state) override;
  std::vector<Refusal> fill(GuestAddress destination, Bytes size, uint32_t value) override;
  std::vector<Refusal> copy(GuestAddress destination, GuestAddress source, Bytes size) override;
  // Refreshes the memory's map too. When the map changed, recorded work is waited for first.
  Result<void> acquire() override;
  Result<std::vector<Refusal>> finish() override;
  void will_read(GuestAddress address, Bytes size) override;
  void stretch_ended() override;

  const ExecutorCounters& counters() const;
  TraceCounters trace_counters() const;
  // A line for each program: its routes, what the memo served, why a route did not work.
  std::string routes_text() const;
  // What `automatic` came to.
  Coherence coherence() const;

 private:
  struct State;
  explicit DispatchExecutor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace orrery::dispatch
