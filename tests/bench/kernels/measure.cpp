#include "tests/bench/kernels/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "gpu-service/dispatch/batch_ring.hpp"
#include "gpu-service/dispatch/lane_choice.hpp"
#include "tests/bench/kernels/device_kernel.hpp"
#include "tests/bench/kernels/guest_region.hpp"

namespace orrery::bench {
namespace {

using Kernels = std::vector<std::unique_ptr<DeviceKernel>>;

// The service's choice first.
std::vector<shader::LaneLayout> layouts(const dispatch::LaunchGeometry& geometry, const vulkan::DeviceFacts& facts,
                                        bool with_whole, std::string& none) {
  // A program that needs anything at all of its wave: on a device whose subgroups can be required the choice is the
  // same.
  const auto needs = [] {
    shader::ProgramNeeds all;
    all.votes = all.masks_whole = all.lane_values = all.lockstep = all.lds = all.barrier = all.wave_stores = true;
    return all;
  };
  const auto chosen = dispatch::choose_layout(geometry, facts, needs);
  if (!chosen) {
    none = chosen.error();
    return {};
  }
  std::vector<shader::LaneLayout> out{chosen->layout};
  const auto whole = dispatch::choose_layout(geometry, facts, needs, shader::LayoutWish::whole_wave);
  if (with_whole && whole && whole->layout != chosen->layout) out.push_back(whole->layout);
  return out;
}

std::optional<std::vector<uint32_t>> read_words(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

Contender facts_of(const DeviceKernel& kernel) {
  Contender out;
  out.label = kernel.label;
  out.compile_ms = kernel.compile_ms;
  out.translate_us = kernel.translate_us;
  out.words = kernel.words;
  out.instructions = kernel.instructions;
  out.bound_buffers = kernel.bound_buffers;
  out.page_table = kernel.page_table;
  out.scratch = kernel.scratch;
  out.parts = static_cast<uint32_t>(kernel.parts.size());
  return out;
}

Spread spread_of(std::vector<double> times) {
  std::ranges::sort(times);
  const auto at = [&](double q) { return times[static_cast<size_t>(q * static_cast<double>(times.size() - 1) + 0.5)]; };
  return {at(0.5), at(0.25), at(0.75)};
}

struct Running {
  Contender* shown = nullptr;
  std::unique_ptr<DeviceKernel> kernel;
  std::vector<double> times;
};

class Bench {
 public:
  Bench(const vulkan::Device& device, Commands& commands, const MeasureOptions& options)
      : device_(device), commands_(commands), options_(options) {}
  Result<void> run(const KernelCase& kernel, Measured& out);

 private:
  Result<void> contenders(const dispatch::DispatchState& state, const std::string& base, Measured& out);
  Result<void> compare(const KernelCase& kernel);
  Result<void> warm_up();
  Result<void> take_times(Measured& out);
  Result<double> sample(const DeviceKernel& kernel, uint32_t repeats);

  const vulkan::Device& device_;
  Commands& commands_;
  const MeasureOptions& options_;
  PreparedCase prepared_;
  std::unique_ptr<GuestRegion> region_;
  std::unique_ptr<DeviceBlock> block_;
  std::vector<Running> running_;
};

Result<void> Bench::run(const KernelCase& kernel, Measured& out) {
  auto prepared = prepare(kernel, options_.size);
  if (!prepared) return std::unexpected(std::move(prepared.error()));
  prepared_ = *prepared;
  auto corpus = dispatch::CorpusKernel::load(fmt::format("{}/{}.w{}", options_.corpus, kernel.name, out.wave));
  if (!corpus) return std::unexpected(std::move(corpus.error()));
  const RegionPlan plan = plan_region(prepared_, *corpus);
  out.bytes = plan.size;
  if (plan.size > options_.most_bytes) return fail(ExitCode::usage, "{} bytes are more than asked for", plan.size);
  auto region = GuestRegion::map(plan.size);
  if (!region) return std::unexpected(std::move(region.error()));
  region_ = std::move(*region);
  fill_block(region_->at(0), prepared_.arguments.data(), prepared_.count, &prepared_.layout, 1);
  const auto state = write_launch(*region_, plan, prepared_, *corpus);
  if (!state) return std::unexpected(state.error());
  auto block = DeviceBlock::create(device_, commands_, plan.size, options_.place);
  if (!block) return std::unexpected(std::move(block.error()));
  block_ = std::move(*block);
  ORRERY_TRY(block_->upload(region_->bytes()));
  ORRERY_TRY(contenders(*state, fmt::format("{}/{}", options_.twins, kernel.name), out));
  ORRERY_TRY(compare(kernel));
  return take_times(out);
}

Result<void> Bench::contenders(const dispatch::DispatchState& state, const std::string& base, Measured& out) {
  const auto geometry = dispatch::launch_geometry(state);
  if (!geometry) return fail(ExitCode::internal, "{}", geometry.error());
  std::string none;
  const auto asked = layouts(*geometry, device_.facts(), options_.whole_wave, none);
  if (asked.empty()) out.ours.push_back({"-", none});
  out.ours.reserve(8);
  out.twins.reserve(8);
  for (const auto& layout : asked) {
    const std::string label = layout.whole_wave() ? "whole" : fmt::format("k={}", layout.k);
    auto made = translate_kernel(device_, *block_, *region_, state, layout, options_.workgroup_memory);
    if (!made) {
      out.ours.push_back({label, made.error().describe()});
      continue;
    }
    (*made)->label = label;
    out.ours.push_back(facts_of(**made));
    running_.push_back({&out.ours.back(), std::move(*made), {}});
  }
  std::optional<std::vector<uint32_t>> first;
  for (const char* label : {"glsl", "native"}) {
    const char* const ending = label[0] == 'g' ? ".spv" : ".native.spv";
    auto words = read_words(fmt::format("{}.w{}{}", base, out.wave, ending));
    if (!words) words = read_words(base + ending);
    if (!words || words == first) continue;
    first = words;
    auto made = glsl_kernel(device_, *block_, prepared_, state, *words, base);
    if (!made) {
      out.twins.push_back({label, made.error().describe()});
      continue;
    }
    (*made)->label = label;
    out.twins.push_back(facts_of(**made));
    running_.push_back({&out.twins.back(), std::move(*made), {}});
  }
  return {};
}

// Each runs once on pristine memory; the outputs are held against the first twin's.
Result<void> Bench::compare(const KernelCase& kernel) {
  const auto twin = std::ranges::find_if(running_, [](const Running& r) { return r.kernel->instructions == 0; });
  if (twin == running_.end()) return {};
  const uint64_t size = prepared_.layout.total;
  std::vector<std::byte> wanted(size), got(size);
  const auto once = [&](const Running& r, std::vector<std::byte>& to) -> Result<void> {
    ORRERY_TRY(commands_.run([&](VkCommandBuffer commands) {
      block_->restore(commands);
      r.kernel->record(commands);
      dispatch::full_barrier(commands);
    }));
    return block_->download(to);
  };
  ORRERY_TRY(once(*twin, wanted));
  const auto bytes = [](const std::vector<std::byte>& v) { return reinterpret_cast<const unsigned char*>(v.data()); };
  for (Running& r : running_) {
    if (&r == &*twin) continue;
    ORRERY_TRY(once(r, got));
    tolerance allowed = kernel.allowed;
    // The title's tolerances are for its own sizes; here sums are up to thirty times as long.
    if (options_.size == CaseSize::huge) allowed.absolute *= 8;
    // Native intrinsics, and twins where Fma rounds twice, are near only.
    if (r.shown->label == "native" || !device_.facts().fuses_fma) {
      allowed = {std::max(allowed.relative, 1e-3), std::max(allowed.absolute, 1e-4)};
    }
    comparison result{};
    compare_blocks(bytes(got), bytes(wanted), region_->at(0), prepared_.arguments.data(), prepared_.count,
                   &prepared_.layout, allowed, &result);
    if (result.outcome != OUTCOME_EQUAL) r.shown->differs = result.difference;
    if (result.outcome == OUTCOME_REFUSED) r.shown->differs += " (outputs untouched)";
    if (r.kernel->escapes != nullptr && (r.kernel->escapes->count != 0 || r.kernel->escapes->loops_cut != 0)) {
      r.shown->differs +=
          fmt::format(" {} escapes, loops cut: {}", r.kernel->escapes->count, r.kernel->escapes->loops_cut);
    }
  }
  return {};
}

Result<double> Bench::sample(const DeviceKernel& kernel, uint32_t repeats) {
  auto total = commands_.time([&](VkCommandBuffer commands) { block_->restore(commands); },
                              [&](VkCommandBuffer commands) {
                                for (uint32_t i = 0; i < repeats; ++i) {
                                  if (i > 0) dispatch::full_barrier(commands);
                                  kernel.record(commands);
                                }
                              });
  if (total) *total /= repeats;
  return total;
}

// The clocks of a device that was idle while the case was made rise only with work.
Result<void> Bench::warm_up() {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double, std::milli>(options_.warm_ms));
  while (Clock::now() < end) {
    for (const Running& r : running_) {
      const auto time = sample(*r.kernel, 1);
      if (!time) return std::unexpected(time.error());
    }
  }
  return {};
}

// In turn, so that clocks and temperature are the same for all.
Result<void> Bench::take_times(Measured& out) {
  ORRERY_TRY(warm_up());
  double shortest = INFINITY;
  for (const Running& r : running_) {
    for (int i = 0; i < 2; ++i) {
      const auto time = sample(*r.kernel, 1);
      if (!time) return std::unexpected(time.error());
      shortest = std::min(shortest, *time);
    }
  }
  out.repeats = static_cast<uint32_t>(std::clamp(std::ceil(options_.least_ms * 1e6 / shortest), 1.0, 256.0));
  for (uint32_t i = 0; i < options_.samples; ++i) {
    for (size_t k = 0; k < running_.size(); ++k) {
      Running& r = running_[(k + i) % running_.size()];
      const auto time = sample(*r.kernel, out.repeats);
      if (!time) return std::unexpected(time.error());
      r.times.push_back(*time);
    }
  }
  for (Running& r : running_) {
    if (!r.times.empty()) r.shown->time = spread_of(std::move(r.times));
  }
  return {};
}

}  // namespace

Result<Measured> measure(const vulkan::Device& device, Commands& commands, const KernelCase& kernel, uint32_t wave,
                         const MeasureOptions& options) {
  Measured out;
  out.name = kernel.name;
  out.wave = wave;
  out.place = options.place;
  out.n = kernel.n[static_cast<size_t>(options.size)];
  Bench bench(device, commands, options);
  ORRERY_TRY(bench.run(kernel, out));
  return out;
}

}  // namespace orrery::bench
