// What DispatchExecutor holds; seen only by its own source files.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>

#include "gpu-service/dispatch/arena_buffers.hpp"
#include "gpu-service/dispatch/batch_ring.hpp"
#include "gpu-service/dispatch/device_page_table.hpp"
#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/dispatch/draw_shelf.hpp"
#include "gpu-service/dispatch/guard.hpp"
#include "gpu-service/dispatch/host_run.hpp"
#include "gpu-service/dispatch/launch_geometry.hpp"
#include "gpu-service/dispatch/mirror_sync.hpp"
#include "gpu-service/dispatch/pending_writes.hpp"
#include "gpu-service/dispatch/program_cache.hpp"
#include "gpu-service/dispatch/program_reports.hpp"
#include "gpu-service/dispatch/redo.hpp"
#include "gpu-service/dispatch/routes.hpp"
#include "gpu-service/dispatch/traced_buffers.hpp"
#include "gpu-service/dispatch/workers.hpp"
#include "gpu-service/memory/guest_memory.hpp"
#include "gpu-service/vulkan/facts.hpp"

namespace orrery::dispatch {

// A storage buffer of a dispatch, resolved to a range of a device buffer.
struct Binding {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0, range = 0;
  shader::BoundInfo info{};
  ArenaRange arena;  // what the guest may touch through it; empty for an empty buffer
};

// A dispatch as far as its program goes: what the translator is asked for, or why no layout fits the group.
struct Planned {
  std::expected<shader::LaneChoice, std::string> choice;
  shader::TranslateOptions options;
};
// May a preparation wait for what other threads make?
enum class Wait : uint8_t { no, yes };
struct Launch {
  const LaunchGeometry& geometry;
  shader::TranslateOptions options;
  shader::LaneChoice choice;
  std::shared_ptr<const ReadProgram> program;
  Wait wait;
};
// What a route came to.
struct Prepared {
  std::shared_ptr<Translation> translation;
  std::vector<Binding> bindings;
  std::vector<ArenaRange> images = {};  // what traced images are
  std::vector<ArenaRange> image_reads = {}, image_writes = {};
  bool images_known = false;  // nothing else is reached through the page table
  std::shared_ptr<const MadePipeline> pipeline = {};
  // Host run: what it may store to, and the page table that lets it store nowhere else.
  std::vector<ArenaRange> written;
  std::shared_ptr<DevicePageTable> page_table;
};
// A run of waves on the host that a worker makes.
struct HostRunAhead {
  TraceKey key;
  std::shared_ptr<std::atomic<bool>> done;
};
// What recording a draw needs.
struct DrawParts {
  const draw::Groups& groups;
  const DrawShader& primitive;
  const draw::GraphicsPipeline& pipeline;
  draw::ColourImage& image;
  DeviceAddress surface, memory;  // the target's bytes; what the stages share
};
struct WritablePages {
  std::vector<uint64_t> numbers;
  std::shared_ptr<DevicePageTable> table;
};
// Preparations that workers have under way.
using PreparationKey =
    std::tuple<GuestAddress, uint32_t, uint32_t, uint32_t, std::array<uint32_t, 3>, uint32_t, bool, bool>;

struct DispatchExecutor::State {
  State(const vulkan::Device& device, memory::GuestMemory& memory, const ExecutorOptions& options,
        Translator translator, BatchRing ring, DevicePageTable table, vulkan::Buffer none);
  ~State();

  const vulkan::Device& device;
  memory::GuestMemory& memory;
  ExecutorOptions options;
  shader::LayoutWish layout_wish;
  Coherence coherence;
  ArenaBuffers arena;
  BatchRing batches;
  std::unique_ptr<memory::WriteTracker> own_tracker;  // where nobody gave one
  memory::WriteTracker& tracker;
  std::unique_ptr<MirrorSync> mirrors;  // none: programs work in the arena itself
  bool unsettled = false;               // work was recorded since the device was last waited for
  DevicePageTable pages;
  ProgramCache programs;
  RememberedRoutes routes;
  vulkan::Buffer scratch;  // private memory and large LDS of one part's groups; made when first wanted
  vulkan::Buffer empty;    // bound where a descriptor has no bytes
  PendingWrites pending;
  Footprint footprint;      // of the stretch, since its last commit
  bool takes_redo = false;  // of what is recorded, something may not be stored directly
  TracedBuffersMemo traces;
  ExecutorCounters counters;
  uint64_t map_version = UINT64_MAX;                     // of the buffers and the page table
  std::vector<Refusal> found;                            // by waits, until finish() hands them out
  std::set<std::shared_ptr<const ReadProgram>> running;  // programs of the work not yet waited for
  // Preparations by workers; true: it has run. prepare() is any thread's.
  std::mutex ahead_mutex;
  std::map<PreparationKey, std::shared_ptr<std::atomic<bool>>> ahead;
  std::set<PreparationKey> announced;  // by prepare(), each once
  std::atomic<uint64_t> prepared_ahead_count = 0, host_run_groups = 0;
  std::vector<HostRunAhead> host_runs;
  std::vector<WritablePages> writable;  // of the map in force; the first `writable_used` may be walked by recorded work
  size_t writable_used = 0;
  ProgramReports reports;
  std::unique_ptr<DrawShelf> draws;  // made by the first draw
  Workers workers;                   // behind all that its jobs use
  std::optional<Error> lost;         // the first error of the device; from then on nothing is done
  std::chrono::steady_clock::time_point cache_saved = std::chrono::steady_clock::now();

  // Records what the work behind it needs: mirrors of what it looks at and stores to are current.
  Result<void> want(std::span<const ArenaRange> ranges);
  Result<void> want_everything();
  // The CPU is about to store there on the stream's behalf.
  void stored(ArenaRange range);
  // Buffers and page table for the map in force.
  Result<void> take_map();
  // Submits, waits, and brings back what the device changed.
  Result<void> settle();
  // Waits for all recorded work, whose results are then in guest memory.
  Result<void> wait_all();
  // The same without a commit: what a Redo took is not there yet. Notes escapes and changed programs in `found`.
  Result<void> wait_recorded();
  // Decides where the stores of the next thing recorded go. True: memory moved to mirrors, what was bound is stale.
  Result<bool> admit(const Access& access);
  Result<void> move_to_mirrors(const Access& access);
  bool careful() const { return options.guard != nullptr && options.guard->careful(); }
  // Keeps a refusal for finish(), up to a number that a user can read.
  void note(Refusal refusal);
  // The error, remembered; answers it again.
  Refusal lose(Error error);
  Refusal lost_refusal() const;
  // Copies guest bytes that recorded work can't write any more: waits where it may.
  bool settled_read(GuestAddress address, std::span<std::byte> out);

  // Where the program's bound buffers and images lie: from the memo where memory still answers the same. `unsettled`:
  // the answer would need bytes that work may still write which can write anywhere.
  TracedBuffers traced_buffers(const DispatchState& dispatch, const ReadProgram& program, const shader::Module& module,
                               bool& unsettled);
  // Its pieces of the arena are among what the dispatch is known to write.
  void add_written(memory::GuestSpan span, Prepared& prepared) const;
  // Of one traced buffer; the memo's answers depend on it.
  uint64_t most_bound_bytes() const;
  std::expected<Binding, std::string> bind(const TracedBuffer& buffer);
  // Room for `bytes` of groups' memory; waits for recorded work when it has to be made anew.
  Result<void> want_scratch(uint64_t bytes);
  // Nothing: wait for what it needs. With Wait::yes there always is an answer.
  std::optional<std::vector<Refusal>> run(const DispatchState& dispatch, Wait wait);
  std::optional<std::vector<Refusal>> run_route(const DispatchState& dispatch, Wait wait);
  void prepare(const DispatchState& dispatch);
  DispatchWrites writes_of(const DispatchState& dispatch, const memory::GuestMemory& memory,
                           const MayChange& may_change);
  // By any thread: the program is read and translated as the dispatch will want it.
  void prepare_now(const DispatchState& dispatch, const LaunchGeometry& geometry,
                   const shader::TranslateOptions& options);
  void start_ahead(const PreparationKey& key, const DispatchState& dispatch, const LaunchGeometry& geometry,
                   const shader::TranslateOptions& options);
  bool prepared_ahead(const DispatchState& dispatch, const LaunchGeometry& geometry,
                      const shader::TranslateOptions& options);
  std::optional<Planned> plan(const ReadProgram& program, const LaunchGeometry& geometry,
                              shader::TranslateOptions options, Wait wait);
  std::shared_ptr<const ReadProgram> settled_program(GuestAddress address, Wait wait);
  std::shared_ptr<Translation> translated(const DispatchState& dispatch, const Launch& launch,
                                          const shader::TranslateOptions& options);
  std::expected<Prepared, RouteRefusal> prepare_bound(const DispatchState& dispatch, const Launch& launch,
                                                      bool& unsettled);
  // With the pipeline for these specialization constants.
  std::expected<Prepared, RouteRefusal> compiled(Prepared prepared, std::vector<uint32_t> constants, Wait wait);
  std::expected<Prepared, RouteRefusal> prepare_addressed(const DispatchState& dispatch, const Launch& launch);
  std::expected<Prepared, RouteRefusal> allowing_host_runs(const DispatchState& dispatch, const Launch& launch);
  TracedBuffers host_run_now(const DispatchState& dispatch, const LaunchGeometry& geometry, const ReadProgram& program,
                             const memory::GuestMemory& asker);
  bool host_run_ahead(const DispatchState& dispatch, const Launch& launch);
  Result<std::shared_ptr<DevicePageTable>> writable_pages(std::span<const memory::GuestSpan> spans);
  // Recorded work may still store there.
  bool may_be_written(memory::GuestSpan span) const;
  std::expected<Routed<Prepared>, NotRouted> prepare_launch(const DispatchState& dispatch, const Launch& launch);
  std::vector<Refusal> refused(const DispatchState& dispatch, const Launch& launch, const NotRouted& failed);
  void count(const DispatchState& dispatch, const Launch& launch, const Routed<Prepared>& routed);
  std::vector<Refusal> record(const DispatchState& dispatch, const Launch& launch, const Prepared& prepared,
                              const std::array<uint32_t, 3>& part);

  std::vector<Refusal> draw(const draw::DrawState& state);
  std::shared_ptr<const DrawShader> draw_shader(const draw::Stage& stage, shader::GraphicsStage as, uint32_t threads);
  static std::vector<Refusal> shader_refusals(const DrawShader& shader, const draw::Stage& stage);
  std::expected<std::vector<uint32_t>, std::string> vertex_ids(const draw::DrawState& state);
  // Between the guest's surface and the image's rows.
  Result<void> copy_surface(const draw::DrawState& state, const draw::ColourImage& image, DeviceAddress surface,
                            bool back);
  Result<void> record_draw(const draw::DrawState& state, const DrawParts& parts);
  std::vector<Refusal> fill(GuestAddress destination, Bytes size, uint32_t value);
  std::vector<Refusal> copy(GuestAddress destination, GuestAddress source, Bytes size);
};

// What the translator is asked for; the layout is still to be chosen.
shader::TranslateOptions options_of(const DispatchState& dispatch, const LaunchGeometry& geometry,
                                    const vulkan::DeviceFacts& facts);

// "queue 0, submission 12, dword 34"
std::string place_of(const DispatchState& dispatch);

}  // namespace orrery::dispatch
