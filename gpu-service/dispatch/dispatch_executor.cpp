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
#include "shared/log.hpp"

namespace orrery::dispatch {
namespace {

// More parts than this would keep the recorder busy for ever; no real launch comes near.
// A driver may count a call's groups in 32 bits (lavapipe does) and do none of them when they are too many.
constexpr uint64_t kMostGroupsACall = 1u << 30;
constexpr uint64_t kMostParts = 1 << 16;
constexpr uint64_t kMostScratch = 256ull << 20;  // bytes of private memory that run at once
constexpr size_t kMostFound = 1024;              // refusals kept between two finish(); the counters go on
constexpr size_t kMostTold = 16;                 // refusals of one program that are listed

bool import_switched_off() {
  const char* value = std::getenv("ORRERY_IMPORT");
  return value != nullptr && std::strcmp(value, "off") == 0;
}

std::vector<Refusal> program_refusals(const DispatchState& dispatch, std::span<const shader::ShaderRefusal> refusals,
                                      bool told) {
  if (told) {
    return {{"program", fmt::format("{}: program {:#x} is refused as before; the dispatch is left out",
                                    place_of(dispatch), dispatch.program.value)}};
  }
  std::vector<Refusal> out;
  for (const auto& refusal : refusals) {
    if (out.size() == kMostTold) {
      out.push_back({"program", fmt::format("program {:#x}: {} more refusals", dispatch.program.value,
                                            refusals.size() - kMostTold)});
      break;
    }
    out.push_back({"program", fmt::format("{}: program {:#x} offset {:#x}: {}: {}", place_of(dispatch),
                                          dispatch.program.value, refusal.offset, refusal.mnemonic, refusal.reason)});
  }
  return out;
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
      arena(d, m.arena(), o.import_arena && !import_switched_off()),
      batches(std::move(ring)),
      pages(std::move(table)),
      programs(d, m, std::move(translator)),
      empty(std::move(none)) {}

Result<std::unique_ptr<DispatchExecutor>> DispatchExecutor::create(const vulkan::Device& device,
                                                                   memory::GuestMemory& memory,
                                                                   const ExecutorOptions& options,
                                                                   Translator translator) {
  auto ring = BatchRing::create(device, options.patience);
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
const TraceCounters& DispatchExecutor::trace_counters() const { return state_->traces.counters(); }

DispatchExecutor::State::~State() {
  // Pipelines and buffers go only when nothing uses them.
  vkDeviceWaitIdle(device.handle());
}

void DispatchExecutor::State::note(Refusal refusal) {
  if (found.size() < kMostFound) found.push_back(std::move(refusal));
}

void DispatchExecutor::State::before_work() {
  if (arena.mirrored() && batches.idle()) arena.upload();
}

Refusal DispatchExecutor::State::lost_refusal() const { return {"device", lost->describe()}; }

Refusal DispatchExecutor::State::lose(Error error) {
  if (!lost) lost = std::move(error);
  return lost_refusal();
}

Result<void> DispatchExecutor::State::wait_all() {
  if (lost) return std::unexpected(*lost);
  if (batches.idle()) return {};
  if (auto waited = batches.wait(); !waited) {
    lost = std::move(waited.error());
    return std::unexpected(*lost);
  }
  arena.write_back();
  pending.clear();
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
    if (!programs.unchanged(*program)) {
      note({"program",
            fmt::format("program {:#x} was rewritten while work that uses it was recorded", program->address.value)});
    }
  }
  running.clear();
  return {};
}

bool DispatchExecutor::State::settled_read(GuestAddress address, std::span<std::byte> out) {
  const auto pieces = memory.pieces(address, {out.size()});
  if (!pieces) return false;
  for (const auto& piece : *pieces) {
    if (!pending.may_touch({piece.offset.value, piece.offset.value + piece.size.value})) continue;
    ++counters.waits_for_reads;
    if (!wait_all()) return false;
    break;
  }
  return memory.read(address, out).has_value();
}

std::vector<Refusal> DispatchExecutor::State::run(const DispatchState& dispatch) {
  const auto refuse = [&](const char* kind, std::string reason) {
    ++counters.refused;
    return std::vector<Refusal>{{kind, fmt::format("{}: {}", place_of(dispatch), reason)}};
  };
  if (lost) return {lost_refusal()};
  if (dispatch.groups[0] == 0 || dispatch.groups[1] == 0 || dispatch.groups[2] == 0) return {};
  const auto geometry = launch_geometry(dispatch);
  if (!geometry) return refuse("dispatch", geometry.error());
  if (geometry->empty()) return {};
  const auto& facts = device.facts();
  if (geometry->workgroup_bytes > facts.workgroup_memory) {
    return refuse("dispatch", fmt::format("{} bytes of LDS; the device has {} of workgroup memory",
                                          geometry->workgroup_bytes, facts.workgroup_memory));
  }
  std::array<uint32_t, 3> part = facts.max_groups;
  const uint64_t group_scratch = static_cast<uint64_t>(geometry->scratch_wave_bytes) * geometry->waves_per_group();
  const uint64_t fits = group_scratch != 0 ? kMostScratch / group_scratch : UINT64_MAX;
  part = part_of_groups(*geometry, part, std::min(fits, kMostGroupsACall));
  if (dispatches_needed(*geometry, part) > kMostParts) {
    return refuse("dispatch",
                  fmt::format("{} x {} x {} groups", geometry->count[0], geometry->count[1], geometry->count[2]));
  }
  if (dispatch.program.value == 0) return refuse("program", "the program address is 0");

  if (batches.idle()) programs.trim();
  std::shared_ptr<const ReadProgram> program = programs.read(dispatch.program);
  if (program != nullptr && pending.names({0, UINT64_MAX})) {
    const auto code = memory.pieces(program->address, {program->copied});
    bool touched = false;
    for (const auto& piece : code.value_or(std::vector<memory::Piece>{})) {
      touched = touched || pending.names({piece.offset.value, piece.offset.value + piece.size.value});
    }
    if (touched) {
      ++counters.waits_for_reads;
      if (auto waited = wait_all(); !waited) return {lost_refusal()};
      program = programs.read(dispatch.program);
    }
  }
  if (program == nullptr)
    return refuse("program", fmt::format("program address {:#x} is not mapped", dispatch.program.value));
  if (!program->program) {
    ++counters.refused;
    const bool told = std::exchange(program->told, true);
    counters.programs_refused += told ? 0 : 1;
    return program_refusals(dispatch, {&program->program.error(), 1}, told);
  }

  shader::TranslateOptions wanted;
  wanted.host = host_features(facts);
  wanted.group_size = geometry->group_size;
  wanted.rsrc1 = dispatch.rsrc1;
  wanted.rsrc2 = dispatch.rsrc2;
  wanted.partial_groups = geometry->threads != std::array<uint32_t, 3>{};
  wanted.scratch_dwords = geometry->scratch_wave_bytes / 4 / geometry->wave;
  wanted.layout.wave = geometry->wave;
  const auto choice = choose_layout(*geometry, facts, [&] { return programs.needs(*program, wanted); }, layout_wish);
  if (!choice) return refuse("dispatch", choice.error());
  wanted.layout = choice->layout;
  Translation* translation = &programs.translate(*program, wanted);
  std::vector<Binding> bindings;
  std::string unbound;
  if (translation->module) {
    if (translation->module->buffers.size() > std::min(facts.max_storage_buffers, BatchRing::kMostBuffers)) {
      unbound = fmt::format("{} buffers", translation->module->buffers.size());
    }
    if (unbound.empty()) {
      const TracedBuffers traced = traced_buffers(dispatch, *program, translation->module->buffers);
      if (lost) return {lost_refusal()};
      if (!traced) unbound = traced.error();
      for (size_t i = 0; unbound.empty() && i < traced->size(); ++i) {
        auto binding = bind((*traced)[i]);
        if (binding) {
          bindings.push_back(*binding);
        } else {
          unbound = fmt::format("buffer {}: {}", i, binding.error());
        }
      }
    }
  }
  if (!unbound.empty()) {
    log::debug("{}: program {:#x} is device-addressed: {}", place_of(dispatch), dispatch.program.value, unbound);
    wanted.bind_buffers = false;
    translation = &programs.translate(*program, wanted);
    bindings.clear();
  }
  counters.programs = programs.translations();
  if (!translation->module) {
    ++counters.refused;
    const bool told = std::exchange(translation->told, true);
    counters.programs_refused += told ? 0 : 1;
    return program_refusals(dispatch, translation->refusals, told);
  }
  if (translation->module->buffers.size() != bindings.size()) {
    return refuse("program", fmt::format("program {:#x} binds {} buffers although it was asked not to",
                                         dispatch.program.value, translation->module->buffers.size()));
  }
  ++(unbound.empty() ? counters.bound : counters.device_addressed);
  if (choice->layout.whole_wave()) {
    ++counters.whole_wave;
    if (!choice->reason.empty() && !std::exchange(translation->warned, true)) {
      log::warn("{}: program {:#x} runs each wave in one invocation, which is slow: {}", place_of(dispatch),
                dispatch.program.value, choice->reason);
    }
  } else if (choice->layout.exchange == shader::LaneExchange::workgroup) {
    ++counters.exchanged;
  }
  if (translation->module->uses_scratch) {
    uint64_t groups = 1;
    for (size_t i = 0; i < 3; ++i) groups *= std::min(part[i], geometry->count[i]);
    if (auto made = want_scratch(groups * group_scratch); !made) {
      if (lost) return {lost_refusal()};
      return refuse("dispatch", made.error().describe());
    }
  }
  return record(dispatch, *geometry, program, *translation, bindings, part);
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

std::vector<Refusal> DispatchExecutor::State::record(const DispatchState& dispatch, const LaunchGeometry& geometry,
                                                     const std::shared_ptr<const ReadProgram>& program,
                                                     const Translation& translation, std::span<const Binding> bindings,
                                                     const std::array<uint32_t, 3>& part) {
  before_work();
  const auto count = static_cast<uint32_t>(bindings.size());
  auto room = batches.dispatch_step(translation.pipeline.set_layout(), count,
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
  }
  if (translation.module->uses_page_table) pending.add_anything();
  vkUpdateDescriptorSets(device.handle(), count, writes.data(), 0, nullptr);
  vkCmdBindPipeline(room->commands, VK_PIPELINE_BIND_POINT_COMPUTE, translation.pipeline.handle());
  if (count > 0) {
    vkCmdBindDescriptorSets(room->commands, VK_PIPELINE_BIND_POINT_COMPUTE, translation.pipeline.layout(), 0, 1,
                            &room->set, 0, nullptr);
  }
  shader::PushConstants push{};
  push.user_data = dispatch.user_data;
  push.page_table = pages.level1().value;
  push.escapes = room->escapes.value;
  push.bound_info = room->bound_info_address.value;
  push.threads = geometry.threads;
  push.code_low = static_cast<uint32_t>(dispatch.program.value);
  push.code_high = static_cast<uint32_t>(dispatch.program.value >> 32);
  push.scratch = translation.module->uses_scratch ? scratch.address().value : 0;
  bool first_part = true;
  for_each_part(geometry, part, [&](const std::array<uint32_t, 3>& first, const std::array<uint32_t, 3>& groups) {
    // Parts that share private memory run one after the other.
    if (!first_part && translation.module->uses_scratch) full_barrier(room->commands);
    first_part = false;
    push.first_group = first;
    vkCmdPushConstants(room->commands, translation.pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push),
                       &push);
    vkCmdDispatch(room->commands, groups[0], groups[1], groups[2]);
  });
  running.insert(program);
  ++counters.dispatches;
  return {};
}

std::vector<Refusal> DispatchExecutor::dispatch(const DispatchState& state) { return state_->run(state); }

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
  if (s.memory.version() == s.map_version) return {};
  ORRERY_TRY(s.wait_all());
  if (auto updated = s.arena.update(s.memory.entries()); !updated) {
    s.lost = std::move(updated.error());
    return std::unexpected(*s.lost);
  }
  const PageRuns runs = page_runs(s.memory.entries());
  if (runs.partial_pages != 0)
    log::debug("{} pages are mapped only in part; the device can't reach them", runs.partial_pages);
  if (auto updated = s.pages.update(runs.runs, s.arena); !updated) {
    s.lost = std::move(updated.error());
    return std::unexpected(*s.lost);
  }
  s.map_version = s.memory.version();
  return {};
}

Result<std::vector<Refusal>> DispatchExecutor::finish() {
  State& s = *state_;
  ORRERY_TRY(s.wait_all());
  // A killed service should not lose what it compiled, and a busy one should not write all the time.
  if (const auto now = std::chrono::steady_clock::now(); now - s.cache_saved > std::chrono::seconds(2)) {
    s.cache_saved = now;
    s.device.pipeline_cache().save();
  }
  return std::exchange(s.found, {});
}

}  // namespace orrery::dispatch
