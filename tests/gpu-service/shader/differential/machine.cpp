#include "tests/gpu-service/shader/differential/machine.hpp"

#include <fmt/format.h>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "gpu-service/dispatch/lane_choice.hpp"
#include "gpu-service/shader/page_table_window.hpp"
#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "gpu-service/vulkan/single_run.hpp"
#include "tests/gpu-service/shader/differential/assembly.hpp"
#include "tests/gpu-service/shader/differential/interpreted.hpp"
#include "tests/gpu-service/shader/differential/memory_map.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::differential {
namespace {

constexpr uint32_t kPage = 1u << kPageBits, kInfoBytes = 4096, kBoundInfoAt = 1024;

vulkan::Buffer make(const vulkan::Device& device, uint64_t bytes) {
  auto made = vulkan::Buffer::create(device, orrery::Bytes{bytes}, vulkan::BufferPlace::shared, "differential");
  if (!made) throw std::runtime_error(made.error().describe());
  std::memset(made->mapped().data(), 0, bytes);
  return std::move(*made);
}

// The guest's pages on the device, the page table, what the module reports.
class DeviceMemory {
 public:
  DeviceMemory(const vulkan::Device& device, std::span<const uint32_t> memory)
      : level1_(make(device, kLevel1Entries * 8 + sizeof(PageTableWindow))),
        level2_(make(device, 2048 * sizeof(PageEntry))),
        guest_(make(device, memory.size_bytes())),
        info_(make(device, kInfoBytes)) {
    std::memcpy(guest_.mapped().data(), memory.data(), memory.size_bytes());
    const uint64_t second = level2_.address().value;
    std::memcpy(level1_.mapped().data() + (kMemory >> kLevel1Shift) * 8, &second, 8);
    for (uint64_t page = 0; page < memory.size_bytes() / kPage; ++page) {
      const uint64_t at = guest_.address().value + page * kPage;
      const PageEntry entry{at, at};
      std::memcpy(level2_.mapped().data() + (((kMemory >> kPageBits) + page) & 2047) * sizeof entry, &entry,
                  sizeof entry);
    }
  }
  const vulkan::Buffer& guest() const { return guest_; }
  std::vector<uint32_t> contents() const {
    std::vector<uint32_t> out(kMemoryBytes / 4);
    std::memcpy(out.data(), guest_.mapped().data(), kMemoryBytes);
    return out;
  }
  EscapeReport report() const {
    EscapeReport report;
    std::memcpy(&report, info_.mapped().data(), sizeof report);
    return report;
  }
  PushConstants push() const {
    PushConstants push{};
    push.user_data = user_data();
    push.page_table = level1_.address().value;
    push.escapes = info_.address().value;
    push.bound_info = info_.address().value + kBoundInfoAt;
    push.code_low = 0x4000;
    return push;
  }
  // The bound ranges of a module's buffers.
  std::vector<vulkan::BoundRange> bind(const vulkan::Device& device, std::span<const BoundBuffer> buffers) {
    std::vector<vulkan::BoundRange> ranges;
    std::vector<BoundInfo> infos;
    for (const BoundBuffer& buffer : buffers) {
      const auto user = user_data();
      const auto words = evaluate(buffer.source.steps, buffer.source.words, {.user_data = user});
      if (!words || buffer.source.reads_memory()) throw std::runtime_error("a descriptor that is not user data");
      const uint32_t offset = static_cast<uint32_t>((*words)[0]) - static_cast<uint32_t>(kMemory);
      const auto size = static_cast<uint32_t>((*words)[2]);
      const auto alignment = static_cast<uint32_t>(device.facts().storage_alignment);
      const uint32_t aligned = offset / alignment * alignment;
      ranges.push_back({&guest_, orrery::Bytes{aligned}, orrery::Bytes{(offset + size + 3) / 4 * 4 - aligned}});
      infos.push_back({offset - aligned, size});
    }
    if (!infos.empty())
      std::memcpy(info_.mapped().data() + kBoundInfoAt, infos.data(), infos.size() * sizeof(BoundInfo));
    return ranges;
  }

 private:
  vulkan::Buffer level1_, level2_, guest_, info_;
};

std::string text_of(const std::vector<ShaderRefusal>& refusals) {
  std::string text;
  for (const ShaderRefusal& r : refusals) text += fmt::format("{:#x} {}: {}; ", r.offset, r.mnemonic, r.reason);
  return text;
}

bool near(uint32_t wanted, uint32_t got, const Approximation& bound) {
  if (wanted == got) return true;
  const auto a = std::bit_cast<float>(wanted), b = std::bit_cast<float>(got);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::fabs(a - b) < bound.absolute) return true;
  if (std::signbit(a) != std::signbit(b)) return a == 0 && b == 0;
  return (wanted > got ? wanted - got : got - wanted) <= bound.ulp;
}

// The bound of an approximation, if the dword is one's result.
const Approximation* tolerance(const AssembledProgram& program, uint32_t dword) {
  if (dword * 4 < kApproximate) return nullptr;
  const uint32_t slot = (dword - kApproximate / 4) % (kApproximateBytes / 4);
  for (const Approximation& a : program.approximations) {
    if (a.slot == slot) return &a;
  }
  return nullptr;
}

}  // namespace

std::string Variant::text() const {
  return fmt::format("wave{}, {}{}{}{}", layout.wave, layout.text(), bind ? "" : ", nothing bound",
                     lds_in_memory ? ", LDS in memory" : "", as_gpu ? ", as for a GPU" : "");
}

std::string Failure::text() const {
  static constexpr const char* kSteps[] = {"the interpreter refuses", "the translator refuses", "spirv-val", "the run"};
  if (step != Step::memory) return fmt::format("{}: {}: {}", variant.text(), kSteps[static_cast<size_t>(step)], reason);
  return fmt::format("{}: dword {:#x} ({}): interpreter {:08x}, device {:08x}", variant.text(), dword,
                     place_name(dword), wanted, got);
}

std::vector<uint32_t> initial_memory(uint32_t seed) {
  static constexpr uint32_t kEdges[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 0x3f800000,
                                        0xbf800000, 0x00000001, 0x007fffff, 0x00800000, 0x7f800000, 0xff800000,
                                        0x7fc00001, 0x3c003c00, 0x04000001, 0xfbff7bff, 0x7c00fc00, 0x40490fdb,
                                        0x4f000000, 0xcf000000, 31,         32,         63,         0x00010001,
                                        0xff,       0x8000,     0x3ff00000, 0x7ff00000};
  std::mt19937 random(seed);
  std::vector<uint32_t> words(kMemoryBytes / 4);
  for (uint32_t& word : words) {
    word = static_cast<uint32_t>(random());
    const auto how = static_cast<uint32_t>(random()) % 6;
    if (how == 0) word = kEdges[random() % std::size(kEdges)];
    if (how == 1) word %= 70;
    if (how == 2) word = 0x3f800000 + (word >> 5) % 0x4000000 - 0x2000000;  // floats around 1
  }
  return words;
}

std::string place_name(uint32_t dword) {
  const uint32_t byte = dword * 4;
  if (byte < kOwn) return "input";
  if (byte < kExchange) return fmt::format("own memory of thread {}", (byte - kOwn) / kOwnBytes);
  if (byte < kAtomics) return "exchange of lanes";
  if (byte < kOutput) return "shared atomics";
  if (byte >= kApproximate)
    return fmt::format("approximation {} of thread {}", byte % kApproximateBytes / 4,
                       (byte - kApproximate) / kApproximateBytes);
  static constexpr const char* kRows[] = {"v8..v12", "v13..v17 and LDS or v50", "floats", "scalars"};
  return fmt::format("thread {}, {}", (byte - kOutput) / kOutputBytes, kRows[byte % kOutputBytes / 4]);
}

TranslateOptions Machine::options_for(const AssembledProgram& program, const Variant& how) const {
  TranslateOptions options;
  options.layout = how.layout;
  options.host = dispatch::host_features(device_.facts());
  if (options_.pretend) options_.pretend(options.host);
  if (how.lds_in_memory) options.host.workgroup_memory = program.launch.lds_bytes - 1;
  if (how.as_gpu) options.host.lockstep_subgroups = false;
  options.group_size = {program.launch.threads, 1, 1};
  options.rsrc1 = rsrc1_of(program.launch);
  options.rsrc2 = rsrc2_of(program.launch);
  options.partial_groups = program.launch.total_threads != 0;
  options.bind_buffers = how.bind;
  options.scratch_dwords = program.launch.scratch_dwords;
  return options;
}

std::vector<Variant> Machine::variants(const AssembledProgram& program) const {
  const uint32_t wave = program.launch.wave;
  std::vector<LaneLayout> layouts;
  const auto& facts = device_.facts();
  for (uint32_t s = std::max(1u, facts.min_subgroup_size); s <= std::min(wave, facts.max_subgroup_size); s *= 2) {
    layouts.push_back(subgroup_layout(wave, s));
  }
  layouts.push_back(workgroup_layout(wave));
  layouts.push_back(separate_layout(wave));
  layouts.push_back(whole_wave_layout(wave));
  std::vector<Variant> variants;
  const TranslateOptions options = options_for(program, {whole_wave_layout(wave), true});
  const auto analysis = analyse(read(program), options);
  for (const LaneLayout& layout : layouts) {
    if (options_.subgroup != 0 && layout.required_subgroup() != options_.subgroup) continue;
    if (layout.text().find(options_.layout) == std::string::npos) continue;
    // A wave64 takes the driver twenty times as long as a wave32.
    if (layout.whole_wave() && program.places.size() * (wave == 64 ? 20 : 1) > options_.whole_wave_instructions)
      continue;
    if (analysis && !why_not(layout, analysis->needs, group_shape(options), host_lanes(options.host)).empty()) continue;
    variants.push_back({layout, true});
  }
  if (options_.lds_in_memory && program.launch.lds_bytes != 0 && !variants.empty()) {
    variants.push_back({variants.front().layout, true, true});
  }
  if (options_.unbound && !variants.empty()) {
    variants.push_back({variants.front().layout, false});
  }
  if (options_.as_gpu && facts.lockstep_subgroups) {
    for (size_t n = variants.size(); n-- > 0;) {
      if (variants[n].layout.required_subgroup() == 0 || variants[n].lds_in_memory) continue;
      Variant gpu = variants[n];
      gpu.as_gpu = true;
      variants.push_back(gpu);
    }
  }
  return variants;
}

std::optional<Failure> Machine::run(const AssembledProgram& assembled, const std::vector<uint32_t>& wanted,
                                    const Variant& how) {
  AssembledProgram changed = assembled;
  if (change_) change_(changed.words);
  const Launch& launch = assembled.launch;
  const auto module = translate(read(changed), options_for(assembled, how));
  if (!module) return Failure{.step = Step::translation, .variant = how, .reason = text_of(module.error())};
  if (std::string said = shader::test::validate_only(module->spirv); !said.empty()) {
    return Failure{.step = Step::validation, .variant = how, .reason = said};
  }
  const auto failed = [&](std::string reason) {
    return Failure{.step = Step::run, .variant = how, .reason = std::move(reason)};
  };
  DeviceMemory memory(device_, initial_memory(assembled.memory_seed));
  const auto ranges = memory.bind(device_, module->buffers);
  PushConstants push = memory.push();
  if (launch.total_threads != 0) push.threads = {launch.total_threads, 1, 1};
  vulkan::Buffer scratch;
  if (module->group_memory != 0) {
    scratch = make(device_, launch.groups * module->group_memory);
    push.scratch = scratch.address().value;
  }
  const auto pipeline = vulkan::ComputePipeline::create(
      device_,
      {module->spirv, static_cast<uint32_t>(module->buffers.size()), how.layout.required_subgroup(), assembled.name});
  if (!pipeline) return failed(pipeline.error().describe());
  const auto done =
      vulkan::run_single(device_, *pipeline, ranges, std::as_bytes(std::span(&push, 1)), {launch.groups, 1, 1});
  if (!done) return failed(done.error().describe());
  if (memory.report().loops_cut != 0) return failed("the driver cut a loop off");
  const std::vector<uint32_t> got = memory.contents();
  ++runs_[how.text()];
  compared_ += got.size();
  for (uint32_t n = 0; n < got.size(); ++n) {
    if (got[n] == wanted[n]) continue;
    const Approximation* const bound = tolerance(assembled, n);
    if (bound != nullptr && near(wanted[n], got[n], *bound)) continue;
    return Failure{.step = Step::memory, .variant = how, .dword = n, .wanted = wanted[n], .got = got[n]};
  }
  return std::nullopt;
}

std::optional<Failure> Machine::difference(const AssembledProgram& program, const Variant* only) {
  const std::vector<Variant> all = only != nullptr ? std::vector{*only} : variants(program);
  const auto wanted = interpreted(program);
  if (!wanted) {
    return Failure{
        .step = Step::interpretation, .variant = all.empty() ? Variant{} : all.front(), .reason = wanted.error()};
  }
  for (const Variant& how : all) {
    if (auto failure = run(program, *wanted, how)) return failure;
  }
  return std::nullopt;
}

}  // namespace orrery::shader::differential
