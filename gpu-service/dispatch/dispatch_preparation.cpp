// From a dispatch's registers to what is recorded: its program, its translation for this device, the route by which its
// memory is reached. What takes long is done by workers; nothing here waits for them unless it is told to.
#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/dispatch/descriptor_source.hpp"
#include "gpu-service/dispatch/executor_state.hpp"
#include "gpu-service/dispatch/lane_choice.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {
namespace {

// More parts than this would keep the recorder busy for ever; no real launch comes near.
constexpr uint64_t kMostParts = 1 << 16;
// A driver may count a call's groups in 32 bits (lavapipe does) and do none of them when they are too many.
constexpr uint64_t kMostGroupsACall = 1u << 30;
constexpr size_t kMostTold = 16;  // refusals of one program that are listed
constexpr size_t kMostAnnounced = 4096;
constexpr size_t kMostAhead = 1024;  // preparations under way or not yet asked for

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

PreparationKey key_of(const DispatchState& dispatch, const shader::TranslateOptions& options) {
  return {dispatch.program,   options.layout.wave,    options.rsrc1,          options.rsrc2,
          options.group_size, options.scratch_dwords, options.partial_groups, options.bind_buffers};
}

uint64_t waves_of(const LaunchGeometry& geometry) {
  uint64_t waves = geometry.waves_per_group();
  for (const uint32_t count : geometry.count)
    waves = count != 0 && waves > UINT64_MAX / count ? UINT64_MAX : waves * count;
  return waves;
}

std::string refusal_text(const Translation& translation) {
  const auto& first = translation.refusals.front();
  const std::string more =
      translation.refusals.size() > 1 ? fmt::format(" (and {} more)", translation.refusals.size() - 1) : "";
  return fmt::format("offset {:#x}: {}: {}{}", first.offset, first.mnemonic, first.reason, more);
}

// The constants of images whose descriptors lie in user data; where one lies in memory, none.
std::vector<uint32_t> known_constants(const DispatchState& dispatch, const shader::Module& module) {
  const auto nothing = [](GuestAddress, std::span<std::byte>) { return false; };
  std::vector<TracedBuffer> traced(module.buffers.size());
  for (const shader::TracedImage& image : module.images) {
    const auto words = read_image(image.source, dispatch, nothing);
    if (!words) return {};
    traced.push_back({.words = {words->begin(), words->end()}});
  }
  for (const shader::DescriptorSource& sampler : module.samplers) {
    const auto words = read_descriptor(sampler, dispatch, nothing);
    if (!words) return {};
    traced.push_back({.words = {words->begin(), words->end()}});
  }
  return descriptor_constants(module, traced);
}

Access access_of(const Prepared& prepared) {
  const shader::Module& module = *prepared.translation->module;
  Access access;
  for (size_t i = 0; i < prepared.bindings.size(); ++i) {
    const ArenaRange range = prepared.bindings[i].arena;
    if (range.size() == 0) continue;
    if (module.buffers[i].read) access.reads.push_back(range);
    if (module.buffers[i].written) access.writes.push_back(range);
  }
  access.reads.insert(access.reads.end(), prepared.image_reads.begin(), prepared.image_reads.end());
  access.writes.insert(access.writes.end(), prepared.image_writes.begin(), prepared.image_writes.end());
  access.reads_anything = module.uses_page_table && !prepared.images_known;
  if (prepared.page_table != nullptr) {
    access.writes.insert(access.writes.end(), prepared.written.begin(), prepared.written.end());
  } else {
    access.writes_anything = module.writes_anywhere;
  }
  return access;
}

}  // namespace

shader::TranslateOptions options_of(const DispatchState& dispatch, const LaunchGeometry& geometry,
                                    const vulkan::DeviceFacts& facts) {
  shader::TranslateOptions options;
  options.host = host_features(facts);
  options.group_size = geometry.group_size;
  options.rsrc1 = dispatch.rsrc1;
  options.rsrc2 = dispatch.rsrc2;
  options.partial_groups = geometry.threads != std::array<uint32_t, 3>{};
  options.scratch_dwords = geometry.scratch_wave_bytes / 4 / geometry.wave;
  options.layout.wave = geometry.wave;
  return options;
}

std::optional<Planned> DispatchExecutor::State::plan(const ReadProgram& program, const LaunchGeometry& geometry,
                                                     shader::TranslateOptions options, Wait wait) {
  bool missing = false;
  const auto needs = [&] {
    if (wait == Wait::yes) return programs.needs(program, options);
    const auto known = programs.known_needs(program, options);
    missing = !known;
    return known.value_or(shader::ProgramNeeds{});
  };
  auto choice = choose_layout(geometry, device.facts(), needs, layout_wish);
  if (missing) return std::nullopt;
  if (choice) options.layout = choice->layout;
  return Planned{std::move(choice), options};
}

void DispatchExecutor::State::prepare_now(const DispatchState& dispatch, const LaunchGeometry& geometry,
                                          const shader::TranslateOptions& options) {
  memory::GuestMemory own = memory.another();
  if (!own.refresh()) return;
  const auto program = programs.read(own, dispatch.program);
  if (program == nullptr || !program->program) return;
  if (this->options.guard != nullptr && this->options.guard->forbidden(program->content)) return;
  auto planned = plan(*program, geometry, options, Wait::yes);
  if (!planned->choice) return;
  const auto translation = programs.translate(*program, planned->options);
  if (!translation->module || !translation->module->writes_anywhere || translation->module->buffers.empty()) return;
  planned->options.bind_buffers = false;
  if (this->options.device_addressing) programs.translate(*program, planned->options);
}

// Begins a preparation unless it is under way. True when it has run: what is still missing then has to be made here.
bool DispatchExecutor::State::prepared_ahead(const DispatchState& dispatch, const LaunchGeometry& geometry,
                                             const shader::TranslateOptions& options) {
  if (workers.threads() == 0) return true;
  const measure::CountedLock lock(ahead_mutex);
  const PreparationKey key = key_of(dispatch, options);
  const auto known = ahead.find(key);
  if (known != ahead.end()) {
    if (!known->second->load(std::memory_order_acquire)) return false;
    ahead.erase(known);
    return true;
  }
  start_ahead(key, dispatch, geometry, options);
  return false;
}

// Under ahead_mutex.
void DispatchExecutor::State::start_ahead(const PreparationKey& key, const DispatchState& dispatch,
                                          const LaunchGeometry& geometry, const shader::TranslateOptions& options) {
  if (ahead.size() >= kMostAhead) {
    std::erase_if(ahead, [](const auto& entry) { return entry.second->load(std::memory_order_acquire); });
  }
  auto done = std::make_shared<std::atomic<bool>>(false);
  ahead[key] = done;
  prepared_ahead_count.fetch_add(1, std::memory_order_relaxed);
  workers.start([this, dispatch, geometry, options, done] {
    prepare_now(dispatch, geometry, options);
    done->store(true, std::memory_order_release);
  });
}

void DispatchExecutor::State::prepare(const DispatchState& dispatch) {
  if (workers.threads() == 0 || dispatch.program.value == 0) return;
  if (this->options.guard != nullptr && this->options.guard->wary()) return;
  const auto geometry = launch_geometry(dispatch);
  if (!geometry || geometry->empty()) return;
  const auto options = options_of(dispatch, *geometry, device.facts());
  const PreparationKey key = key_of(dispatch, options);
  const measure::CountedLock lock(ahead_mutex);
  // What an earlier announcement made is there, or is made again when it is asked for.
  if (announced.size() >= kMostAnnounced) announced.clear();
  if (!announced.insert(key).second || ahead.contains(key) || ahead.size() >= kMostAhead) return;
  start_ahead(key, dispatch, *geometry, options);
}

std::shared_ptr<const ReadProgram> DispatchExecutor::State::settled_program(GuestAddress address, Wait wait) {
  const auto read = [&] {
    return wait == Wait::yes ? programs.read(memory, address) : programs.known(memory, address);
  };
  auto program = read();
  if (program == nullptr || !pending.names({0, UINT64_MAX})) return program;
  const auto code = memory.pieces(program->address, {program->copied});
  const bool touched = std::ranges::any_of(code.value_or(std::vector<memory::Piece>{}), [&](const auto& piece) {
    return pending.names({piece.offset.value, piece.offset.value + piece.size.value});
  });
  if (!touched) return program;
  ++counters.waits_for_reads;
  if (!wait_all()) return nullptr;
  return read();
}

std::expected<Prepared, RouteRefusal> DispatchExecutor::State::prepare_bound(const DispatchState& dispatch,
                                                                             const Launch& launch, bool& unsettled) {
  const auto translation = translated(dispatch, launch, launch.options);
  if (translation == nullptr) return std::unexpected(RouteRefusal{.later = true});
  if (!translation->module) return std::unexpected(RouteRefusal{.reason = refusal_text(*translation)});
  const shader::Module& module = *translation->module;
  if (module.writes_anywhere) {
    const uint64_t waves = waves_of(launch.geometry);
    std::string why = fmt::format("{}: a store at {:#x} through an address or descriptor that is not bound: {}",
                                  kHostRunPassed, module.write_instruction, shader::text(module.write_reason));
    if (waves > kMostDispatchWaves) {
      why += fmt::format(" ({} waves, more than MOST_DISPATCH_WAVES, {})", waves, kMostDispatchWaves);
    }
    return std::unexpected(RouteRefusal{.reason = std::move(why), .host_run_passed = true});
  }
  // Loads reach anything through the page table, and a run on the host finds the stores.
  const auto unbound = [](std::string why) {
    return std::unexpected(RouteRefusal{.reason = std::move(why), .host_run_helps = true});
  };
  if (module.buffers.size() > std::min(device.facts().max_storage_buffers, BatchRing::kMostBuffers)) {
    return unbound(fmt::format("{} buffers", module.buffers.size()));
  }
  const TracedBuffers traced = traced_buffers(dispatch, *launch.program, module, unsettled);
  if (!traced) return unbound(traced.error());
  Prepared prepared{translation, {}};
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    auto binding = bind((*traced)[i]);
    if (!binding) return unbound(fmt::format("buffer {}: {}", i, binding.error()));
    prepared.bindings.push_back(*binding);
  }
  prepared.images_known = module.reaches_images_only;
  for (size_t i = 0; i < module.images.size(); ++i) {
    const TracedBuffer& image = (*traced)[module.buffers.size() + i];
    if (image.span.size.value == 0) continue;
    const auto pieces = memory.pieces(image.span.begin, image.span.size);
    if (!pieces && image.written) {
      return unbound(fmt::format("image {}: not all of it is mapped", i));
    }
    prepared.images_known = prepared.images_known && pieces.has_value();
    for (const auto& piece : pieces.value_or(std::vector<memory::Piece>{})) {
      prepared.images.push_back({piece.offset.value, piece.offset.value + piece.size.value});
      if (module.images[i].read) prepared.image_reads.push_back(prepared.images.back());
      if (image.written) prepared.image_writes.push_back(prepared.images.back());
    }
  }
  return compiled(std::move(prepared), descriptor_constants(module, *traced), launch.wait);
}

std::expected<Prepared, RouteRefusal> DispatchExecutor::State::compiled(Prepared prepared,
                                                                        std::vector<uint32_t> constants, Wait wait) {
  PipelineAsk ask = programs.pipeline(prepared.translation, std::move(constants));
  if (ask.job && wait == Wait::no) {
    workers.start(std::move(ask.job));
  } else if (ask.job) {
    ask.job();
  }
  if (ask.made.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    if (wait == Wait::no) return std::unexpected(RouteRefusal{.later = true});
    const measure::Span span(measure::SpanName::live_pipeline_wait);
    ask.made.wait();
  }
  prepared.pipeline = ask.made.get();
  if (!prepared.pipeline->refusal.empty()) return std::unexpected(RouteRefusal{.reason = prepared.pipeline->refusal});
  return prepared;
}

std::expected<Prepared, RouteRefusal> DispatchExecutor::State::prepare_addressed(const DispatchState& dispatch,
                                                                                 const Launch& launch) {
  // A program that binds nothing is device-addressed as it is.
  const auto bound = programs.made(*launch.program, launch.options);
  if (bound != nullptr && bound->module && bound->module->buffers.empty()) {
    return compiled(Prepared{bound, {}}, known_constants(dispatch, *bound->module), launch.wait);
  }
  shader::TranslateOptions options = launch.options;
  options.bind_buffers = false;
  const auto translation = translated(dispatch, launch, options);
  if (translation == nullptr) return std::unexpected(RouteRefusal{.later = true});
  if (!translation->module) return std::unexpected(RouteRefusal{.reason = refusal_text(*translation)});
  if (!translation->module->buffers.empty()) {
    return std::unexpected(RouteRefusal{.reason = fmt::format("it binds {} buffers although it was asked not to",
                                                              translation->module->buffers.size())});
  }
  return compiled(Prepared{translation, {}}, known_constants(dispatch, *translation->module), launch.wait);
}

std::shared_ptr<Translation> DispatchExecutor::State::translated(const DispatchState& dispatch, const Launch& launch,
                                                                 const shader::TranslateOptions& options) {
  if (launch.wait == Wait::yes) return programs.translate(*launch.program, options);
  if (auto made = programs.made(*launch.program, options)) return made;
  shader::TranslateOptions asked = options_of(dispatch, launch.geometry, device.facts());
  asked.bind_buffers = options.bind_buffers;
  if (!prepared_ahead(dispatch, launch.geometry, asked)) return nullptr;
  return programs.translate(*launch.program, options);
}

std::expected<Routed<Prepared>, NotRouted> DispatchExecutor::State::prepare_launch(const DispatchState& dispatch,
                                                                                   const Launch& launch) {
  bool unsettled = false;
  RouteSteps<Prepared> steps;
  const ProgramKey key{dispatch.program, launch.program->content};
  steps.trace = [&] {
    auto bound = prepare_bound(dispatch, launch, unsettled);
    if (!bound && !bound.error().later) reports.of(key).why = bound.error().reason;
    return bound;
  };
  if (options.device_addressing) steps.device_addressed = [&] { return prepare_addressed(dispatch, launch); };
  steps.host_run = [&] { return allowing_host_runs(dispatch, launch); };
  auto routed = prepare_routed(routes, key, steps);
  if (routed || routed.error().later || !unsettled) return routed;
  // Bound, after all that may still write its tables: nothing else runs it.
  ++counters.waits_for_reads;
  if (!wait_all()) return routed;
  return prepare_routed(routes, key, steps);
}

std::optional<std::vector<Refusal>> DispatchExecutor::State::run(const DispatchState& dispatch, Wait wait) {
  measure::Span span(measure::SpanName::dispatch_on_device, dispatch.program.value);
  auto done = run_route(dispatch, wait);
  if (!done) span.discard();  // asked again when its program is prepared
  return done;
}

std::optional<std::vector<Refusal>> DispatchExecutor::State::run_route(const DispatchState& dispatch, Wait wait) {
  const auto refuse = [&](const char* kind, std::string reason) {
    ++counters.refused;
    return std::vector<Refusal>{{kind, fmt::format("{}: {}", place_of(dispatch), reason)}};
  };
  if (lost) return std::vector{lost_refusal()};
  if (dispatch.groups[0] == 0 || dispatch.groups[1] == 0 || dispatch.groups[2] == 0) return std::vector<Refusal>{};
  const auto geometry = launch_geometry(dispatch);
  if (!geometry) return refuse("dispatch", geometry.error());
  if (geometry->empty()) return std::vector<Refusal>{};
  if (dispatch.program.value == 0) return refuse("program", "the program address is 0");

  if (batches.idle()) programs.trim();
  const auto options = options_of(dispatch, *geometry, device.facts());
  auto program = settled_program(dispatch.program, wait);
  if (program == nullptr && wait == Wait::no && !lost) {
    if (!prepared_ahead(dispatch, *geometry, options)) return std::nullopt;
    program = settled_program(dispatch.program, Wait::yes);
  }
  if (lost) return std::vector{lost_refusal()};
  if (program == nullptr) {
    return refuse("program", fmt::format("program address {:#x} is not mapped", dispatch.program.value));
  }
  if (this->options.guard != nullptr) {
    if (this->options.guard->quarantined(program->content)) {
      return refuse("quarantine", fmt::format("program {:#x} has ended lives of this service and is not run any more",
                                              dispatch.program.value));
    }
    this->options.guard->running(dispatch, program->content);
  }
  if (!program->program) {
    ++counters.refused;
    const bool told = std::exchange(program->told, true);
    counters.programs_refused += told ? 0 : 1;
    return program_refusals(dispatch, {&program->program.error(), 1}, told);
  }
  auto planned = plan(*program, *geometry, options, wait);
  if (!planned) {
    if (!prepared_ahead(dispatch, *geometry, options)) return std::nullopt;
    planned = plan(*program, *geometry, options, Wait::yes);
  }
  if (!planned->choice) return refuse("dispatch", planned->choice.error());
  const Launch launch{*geometry, planned->options, *planned->choice, program, wait};
  auto routed = prepare_launch(dispatch, launch);
  for (int round = 0; routed && !lost && round < 2; ++round) {
    const auto moved = admit(access_of(routed->prepared));
    if (!moved) return std::vector{lose(moved.error())};
    if (!*moved) break;
    routed = prepare_launch(dispatch, launch);
  }
  counters.programs = programs.translations();
  counters.prepared_ahead = prepared_ahead_count.load(std::memory_order_relaxed);
  if (lost) return std::vector{lost_refusal()};
  if (!routed) {
    if (routed.error().later) return std::nullopt;
    return refused(dispatch, launch, routed.error());
  }
  if (workers.threads() != 0) {
    const measure::CountedLock lock(ahead_mutex);
    ahead.erase(key_of(dispatch, options));
  }
  const uint64_t group_memory = routed->prepared.translation->module->group_memory;
  const uint64_t fits = group_memory != 0 ? this->options.most_group_memory / group_memory : UINT64_MAX;
  const auto part = part_of_groups(*geometry, device.facts().max_groups, std::min(fits, kMostGroupsACall));
  if (dispatches_needed(*geometry, part) > kMostParts) {
    return refuse("dispatch",
                  fmt::format("{} x {} x {} groups", geometry->count[0], geometry->count[1], geometry->count[2]));
  }
  count(dispatch, launch, *routed);
  if (group_memory != 0) {
    uint64_t groups = 1;
    for (size_t i = 0; i < 3; ++i) groups *= std::min(part[i], geometry->count[i]);
    if (auto made = want_scratch(groups * group_memory); !made) {
      if (lost) return std::vector{lost_refusal()};
      return refuse("dispatch", made.error().describe());
    }
  }
  auto refusals = record(dispatch, launch, routed->prepared, part);
  if (careful()) {
    if (auto over = wait_recorded(); !over) return std::vector{lost_refusal()};
    this->options.guard->over();
  }
  return refusals;
}

// The translator's reasons where every route failed for them; else what each route said.
std::vector<Refusal> DispatchExecutor::State::refused(const DispatchState& dispatch, const Launch& launch,
                                                      const NotRouted& failed) {
  ++counters.refused;
  ProgramReport& report = reports.of({dispatch.program, launch.program->content});
  ++report.refused;
  report.why = describe(failed.tried);
  const auto translation = programs.made(*launch.program, launch.options);
  if (translation != nullptr && !translation->module) {
    const std::string text = refusal_text(*translation);
    if (std::ranges::all_of(failed.tried, [&](const RouteTried& tried) { return tried.reason == text; })) {
      const bool told = std::exchange(translation->told, true);
      counters.programs_refused += told ? 0 : 1;
      return program_refusals(dispatch, translation->refusals, told);
    }
  }
  return {{"program",
           fmt::format("{}: program {:#x}: {}", place_of(dispatch), dispatch.program.value, describe(failed.tried))}};
}

void DispatchExecutor::State::count(const DispatchState& dispatch, const Launch& launch,
                                    const Routed<Prepared>& routed) {
  switch (routed.route) {
    case Route::trace:
      ++counters.bound;
      break;
    case Route::device_addressed:
      ++counters.device_addressed;
      break;
    default:
      ++counters.host_runs;
  }
  ProgramReport& report = reports.of({dispatch.program, launch.program->content});
  ++report.dispatches[static_cast<size_t>(routed.route)];
  for (const Binding& binding : routed.prepared.bindings) report.bound_bytes += binding.arena.size();
  if (launch.options.layout.whole_wave()) {
    ++counters.whole_wave;
    if (!launch.choice.reason.empty() && !std::exchange(routed.prepared.translation->warned, true)) {
      log::warn("{}: program {:#x} runs each wave in one invocation, which is slow: {}", place_of(dispatch),
                dispatch.program.value, launch.choice.reason);
    }
  } else if (launch.options.layout.exchange == shader::LaneExchange::workgroup) {
    ++counters.exchanged;
  }
}

}  // namespace orrery::dispatch
