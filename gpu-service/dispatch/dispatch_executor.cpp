#include "gpu-service/dispatch/dispatch_executor.hpp"

#include <fmt/format.h>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "gpu-service/dispatch/executor_state.hpp"
#include "gpu-service/dispatch/lane_choice.hpp"
#include "gpu-service/shader/image_refusal.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/pipeline_cache.hpp"
#include "shared/injection.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {
namespace {

constexpr size_t kMostFound = 1024;  // refusals kept between two finish(); the counters go on

bool import_switched_off() {
  const char* value = std::getenv("ORRERY_IMPORT");
  return value != nullptr && std::strcmp(value, "off") == 0;
}

Coherence resolved(Coherence wish, const vulkan::DeviceFacts& facts) {
  if (wish != Coherence::automatic) return wish;
  // Shaders read imported memory at the speed of the bus, which for everything but a discrete GPU is their own.
  return facts.type == vulkan::DeviceType::discrete ? Coherence::mirrored : Coherence::imported;
}

}  // namespace

std::string place_of(const DispatchState& dispatch) {
  return fmt::format("queue {}, dword {}", dispatch.queue, dispatch.packet_offset);
}

DispatchExecutor::State::State(const vulkan::Device& d, memory::GuestMemory& m, const ExecutorOptions& o,
                               Translator translator, BatchRing ring, DevicePageTable table, vulkan::Buffer none)
    : device(d),
      memory(m),
      options(o),
      layout_wish(o.layout.value_or(layout_wish_of_environment())),
      coherence(resolved(o.coherence, d.facts())),
      arena(d, m.arena(), o.import_arena && !import_switched_off(), coherence != Coherence::imported),
      batches(std::move(ring)),
      own_tracker(o.tracker != nullptr
                      ? nullptr
                      : std::make_unique<memory::WriteTracker>(m.arena(), memory::make_content_harvester(m.arena()))),
      tracker(o.tracker != nullptr ? *o.tracker : *own_tracker),
      pages(std::move(table)),
      programs(d, std::move(translator)),
      empty(std::move(none)),
      workers(o.preparation_threads) {}

Result<std::unique_ptr<DispatchExecutor>> DispatchExecutor::create(const vulkan::Device& device,
                                                                   memory::GuestMemory& memory,
                                                                   const ExecutorOptions& options,
                                                                   Translator translator) {
  auto ring = BatchRing::create(device, options.patience, options.heartbeat);
  if (!ring) return std::unexpected(std::move(ring.error()));
  auto table = DevicePageTable::create(device);
  if (!table) return std::unexpected(std::move(table.error()));
  auto none = vulkan::Buffer::create(device, {256}, vulkan::BufferPlace::shared, "empty");
  if (!none) return std::unexpected(std::move(none.error()));
  std::memset(none->mapped().data(), 0, none->size().value);
  return std::unique_ptr<DispatchExecutor>(new DispatchExecutor(std::make_unique<State>(
      device, memory, options, std::move(translator), std::move(*ring), std::move(*table), std::move(*none))));
}

DispatchExecutor::DispatchExecutor(std::unique_ptr<State> state) : state_(std::move(state)) {}

bool DispatchExecutor::given_up() const { return state_->lost && state_->batches.stuck(std::chrono::seconds(1)); }

DispatchExecutor::~DispatchExecutor() {
  if (!given_up()) return;
  // A program that never ends holds the device; waiting for it here would hold this process too.
  log::error("the device is left as it is: work on it does not end");
  state_->device.abandon();
  (void)state_.release();
}

const ExecutorCounters& DispatchExecutor::counters() const { return state_->counters; }
Coherence DispatchExecutor::coherence() const {
  return state_->arena.mirrors() && state_->coherence == Coherence::imported ? Coherence::mirrored : state_->coherence;
}
std::string DispatchExecutor::routes_text() const { return state_->reports.text(); }
TraceCounters DispatchExecutor::trace_counters() const { return state_->traces.counters(); }

DispatchExecutor::State::~State() {
  memory.tell_stores_to({});
  // Pipelines and buffers go only when nothing uses them.
  vkDeviceWaitIdle(device.handle());
}

void DispatchExecutor::State::note(Refusal refusal) {
  if (found.size() < kMostFound) found.push_back(std::move(refusal));
}

Result<void> DispatchExecutor::State::want(std::span<const ArenaRange> ranges) {
  unsettled = true;
  if (!mirrors) return {};
  mirrors->harvest_if_due();
  const measure::Span span(measure::SpanName::upload);
  return mirrors->want(ranges);
}

Result<void> DispatchExecutor::State::want_everything() {
  unsettled = true;
  if (!mirrors) return {};
  mirrors->harvest_for_anything();
  const measure::Span span(measure::SpanName::upload);
  return mirrors->want_all();
}

void DispatchExecutor::State::stored(ArenaRange range) {
  tracker.own_store(range);
  if (mirrors) mirrors->changed({&range, 1});
}

Refusal DispatchExecutor::State::lost_refusal() const { return {"device", lost->describe()}; }

Refusal DispatchExecutor::State::lose(Error error) {
  if (!lost) lost = std::move(error);
  return lost_refusal();
}

Result<void> DispatchExecutor::State::wait_all() {
  ORRERY_TRY(wait_recorded());
  if (options.redo == nullptr) return {};
  auto committed = options.redo->commit(false);
  if (!committed) lost = committed.error();
  return committed;
}

Result<void> DispatchExecutor::State::wait_recorded() {
  if (lost) return std::unexpected(*lost);
  if (!unsettled) return {};
  if (auto settled = settle(); !settled) {
    lost = std::move(settled.error());
    return std::unexpected(*lost);
  }
  unsettled = false;
  pending.clear();
  if (draws) draws->in_use.clear();
  counters.submissions = batches.submissions();
  for (const Escape& escape : batches.take_escapes()) {
    const auto& report = escape.report;
    if (report.loops_cut != 0) {
      note({"loop", fmt::format("queue {}, dword {}: program {:#x} loops more often than this driver lets "
                                "it ({} rounds in all for one invocation); its results are wrong",
                                escape.note.queue, escape.note.packet_offset, escape.note.program.value,
                                device.facts().loop_limit)});
    }
    if (report.image_refusal != 0) {
      note({"image",
            fmt::format("queue {}, dword {}: program {:#x} offset {:#x}: {} (loads gave 0, stores were dropped)",
                        escape.note.queue, escape.note.packet_offset, escape.note.program.value,
                        shader::offset_of_note(report.image_refusal),
                        shader::describe(shader::refusal_of_note(report.image_refusal)))});
    }
    if (report.count == 0) continue;
    counters.escapes += report.count;
    note({"escape", fmt::format("queue {}, dword {}: program {:#x} offset {:#x}: {} {:#x}, which is not mapped "
                                "for the device ({} accesses were dropped)",
                                escape.note.queue, escape.note.packet_offset, escape.note.program.value,
                                report.instruction, report.is_store != 0 ? "stored to" : "loaded from",
                                report.address_low | static_cast<uint64_t>(report.address_high) << 32, report.count)});
  }
  for (const auto& program : running) {
    // Recorded work was translated from the words as they were; a program that earlier work of the batch rewrote ran
    // stale.
    if (!ProgramCache::unchanged(memory, *program)) {
      note({"program",
            fmt::format("program {:#x} was rewritten while work that uses it was recorded", program->address.value)});
    }
  }
  running.clear();
  return {};
}

Result<void> DispatchExecutor::State::settle() {
  const bool redo = options.redo != nullptr && takes_redo;
  if (options.redo != nullptr && !redo && !pending.empty()) options.redo->direct();
  if (mirrors && !pending.empty()) ORRERY_TRY(mirrors->write_back(pending, redo ? options.redo : nullptr));
  ORRERY_TRY(batches.wait());
  if (!mirrors) return {};
  const measure::Span span(measure::SpanName::write_back);
  const uint64_t before = mirrors->counters().written_back_bytes;
  auto conflict = mirrors->finish_write_back();
  if (!conflict) return std::unexpected(std::move(conflict.error()));
  counters.mirrors = mirrors->counters();
  const uint64_t bytes = mirrors->counters().written_back_bytes - before;
  if (running.size() == 1) {
    reports.of({(*running.begin())->address, (*running.begin())->content}).written_back_bytes += bytes;
  } else {
    reports.written_back_together(bytes);
  }
  if (*conflict) {
    note(
        {"conflict", fmt::format("the CPU and the GPU both wrote {} bytes without waiting for each other, the first at "
                                 "arena offset {:#x}; the GPU's are there now",
                                 (*conflict)->bytes, (*conflict)->first.value)});
  }
  return {};
}

bool DispatchExecutor::State::settled_read(GuestAddress address, std::span<std::byte> out) {
  const auto pieces = memory.pieces(address, {out.size()});
  if (!pieces) return false;
  for (const auto& piece : *pieces) {
    if (!pending.may_touch({piece.offset.value, piece.offset.value + piece.size.value})) continue;
    ++counters.waits_for_reads;
    const measure::Span span(measure::SpanName::settled_read, address.value);
    if (!wait_all()) return false;
    break;
  }
  return memory.read(address, out).has_value();
}

Result<void> DispatchExecutor::State::want_scratch(uint64_t bytes) {
  if (scratch && scratch.size().value >= bytes) return {};
  ORRERY_TRY(wait_all());
  scratch = {};
  auto made = vulkan::Buffer::create(device, {std::bit_ceil(bytes)}, vulkan::BufferPlace::device, "scratch");
  if (!made) return forward(std::move(made), "making private memory");
  scratch = std::move(*made);
  return {};
}

std::vector<Refusal> DispatchExecutor::State::record(const DispatchState& dispatch, const Launch& launch,
                                                     const Prepared& prepared, const std::array<uint32_t, 3>& part) {
  const LaunchGeometry& geometry = launch.geometry;
  const Translation& translation = *prepared.translation;
  const vulkan::ComputePipeline& pipeline = prepared.pipeline->pipeline;
  const std::span<const Binding> bindings = prepared.bindings;
  const auto count = static_cast<uint32_t>(bindings.size());
  const uint64_t uploaded = mirrors ? mirrors->counters().uploaded_bytes : 0;
  // Accesses through the page table may reach anything, unless they are all those of images that are known.
  if (translation.module->uses_page_table && !prepared.images_known) {
    if (auto wanted = want_everything(); !wanted) return {lose(std::move(wanted.error()))};
  } else {
    std::vector<ArenaRange> ranges = prepared.images;
    for (const Binding& binding : bindings) ranges.push_back(binding.arena);
    if (auto wanted = want(ranges); !wanted) return {lose(std::move(wanted.error()))};
  }
  if (mirrors) {
    reports.of({dispatch.program, launch.program->content}).uploaded_bytes +=
        mirrors->counters().uploaded_bytes - uploaded;
  }
  auto room = batches.dispatch_step(pipeline.set_layout(), count,
                                    {dispatch.program, dispatch.queue, dispatch.packet_offset, dispatch.sequence});
  if (!room) return {lose(std::move(room.error()))};
  std::vector<VkDescriptorBufferInfo> infos(count);
  std::vector<VkWriteDescriptorSet> writes(count);
  for (uint32_t i = 0; i < count; ++i) {
    infos[i] = {bindings[i].buffer, bindings[i].offset, bindings[i].range};
    writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    writes[i].dstSet = room->set;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &infos[i];
    room->bound_info[i] = bindings[i].info;
    if (translation.module->buffers[i].written) pending.add(bindings[i].arena);
    counters.bound_bytes += bindings[i].arena.size();
  }
  for (const ArenaRange& range : prepared.image_writes) pending.add(range);
  if (translation.module->writes_anywhere && prepared.page_table == nullptr) pending.add_anything();
  for (const ArenaRange& range : prepared.written) pending.add(range);
  vkUpdateDescriptorSets(device.handle(), count, writes.data(), 0, nullptr);
  vkCmdBindPipeline(room->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
  if (count > 0) {
    vkCmdBindDescriptorSets(room->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0, 1, &room->set, 0,
                            nullptr);
  }
  shader::PushConstants push{};
  push.user_data = dispatch.user_data;
  push.page_table = (prepared.page_table != nullptr ? *prepared.page_table : pages).level1().value;
  push.escapes = room->escapes.value;
  push.bound_info = room->bound_info_address.value;
  push.threads = geometry.threads;
  push.code_low = static_cast<uint32_t>(dispatch.program.value);
  push.code_high = static_cast<uint32_t>(dispatch.program.value >> 32);
  push.scratch = translation.module->group_memory != 0 ? scratch.address().value : 0;
  bool first_part = true;
  for_each_part(geometry, part, [&](const std::array<uint32_t, 3>& first, const std::array<uint32_t, 3>& groups) {
    // Parts that share their groups' memory run one after the other.
    if (!first_part && translation.module->group_memory != 0) full_barrier(room->commands);
    first_part = false;
    push.first_group = first;
    vkCmdPushConstants(room->commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), &push);
    vkCmdDispatch(room->commands, groups[0], groups[1], groups[2]);
  });
  injection::point("dispatch");
  running.insert(launch.program);
  ++counters.dispatches;
  return {};
}

std::vector<Refusal> DispatchExecutor::dispatch(const DispatchState& state) { return *state_->run(state, Wait::yes); }

std::optional<std::vector<Refusal>> DispatchExecutor::try_dispatch(const DispatchState& state) {
  auto done = state_->run(state, state_->workers.threads() == 0 || state_->careful() ? Wait::yes : Wait::no);
  if (!done) ++state_->counters.postponed;
  return done;
}

void DispatchExecutor::prepare(const DispatchState& state) { state_->prepare(state); }

DispatchWrites DispatchExecutor::writes_of(const DispatchState& state, const memory::GuestMemory& memory,
                                           const MayChange& may_change) {
  return state_->writes_of(state, memory, may_change);
}

std::vector<Refusal> DispatchExecutor::fill(GuestAddress destination, Bytes size, uint32_t value) {
  return state_->fill(destination, size, value);
}

std::vector<Refusal> DispatchExecutor::copy(GuestAddress destination, GuestAddress source, Bytes size) {
  return state_->copy(destination, source, size);
}

Result<void> DispatchExecutor::acquire() {
  State& s = *state_;
  if (s.lost) return std::unexpected(*s.lost);
  ORRERY_TRY(s.memory.refresh());
  const measure::Span span(measure::SpanName::acquire, s.memory.version());
  memory::Changes reported = s.tracker.take_reports();
  if (s.mirrors) {
    s.mirrors->changed(reported.pages);
    for (const ArenaRange& range : s.mirrors->take_discarded()) reported.discarded.push_back(range);
  }
  if (s.memory.version() != s.map_version || !reported.discarded.empty()) {
    ORRERY_TRY(s.wait_all());
    for (const ArenaRange& range : reported.discarded) s.arena.discard(range);
    if (auto taken = s.take_map(); !taken) {
      s.lost = std::move(taken.error());
      return std::unexpected(*s.lost);
    }
  }
  if (s.mirrors) s.mirrors->acquire();
  return {};
}

Result<void> DispatchExecutor::State::take_map() {
  writable.clear();
  writable_used = 0;
  auto made = arena.update(memory.entries());
  if (!made) return std::unexpected(std::move(made.error()));
  if (arena.mirrors() && !mirrors) {
    auto sync = MirrorSync::create(device, memory.arena(), arena, tracker, batches, coherence == Coherence::per_run);
    if (!sync) return std::unexpected(std::move(sync.error()));
    mirrors = std::move(*sync);
    memory.tell_stores_to([this](ArenaRange range) { stored(range); });
  }
  if (mirrors) mirrors->made_anew(*made);
  tracker.map_changed(memory.entries());
  const PageRuns runs = page_runs(memory.entries());
  if (runs.partial_pages != 0)
    log::debug("{} pages are mapped only in part; the device can't reach them", runs.partial_pages);
  ORRERY_TRY(pages.update(runs.runs, arena, options.redo != nullptr && arena.mirrors_everything()));
  map_version = memory.version();
  return {};
}

Result<std::vector<Refusal>> DispatchExecutor::finish() {
  State& s = *state_;
  ORRERY_TRY(s.wait_recorded());
  // A killed service should not lose what it compiled, and a busy one should not write all the time.
  if (const auto now = std::chrono::steady_clock::now(); now - s.cache_saved > std::chrono::seconds(2)) {
    s.cache_saved = now;
    s.device.pipeline_cache().save();
  }
  return std::exchange(s.found, {});
}

}  // namespace orrery::dispatch
