#include "tests/gpu-service/shader/memory/memory_program.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include "gpu-service/dispatch/buffer_descriptor.hpp"
#include "gpu-service/dispatch/lane_choice.hpp"
#include "gpu-service/shader/descriptor_constants.hpp"
#include "gpu-service/shader/interpret/interpreter.hpp"
#include "gpu-service/shader/page_table_window.hpp"
#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/single_run.hpp"
#include "tests/gpu-service/shader/interpret/assembled.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::shader::memory_test {
namespace {

constexpr uint32_t kPage = 1u << kPageBits;

vulkan::Device& test_device() {
  static std::unique_ptr<vulkan::Device> device = [] {
    auto opened = vulkan::Device::open(vulkan::test_options());
    if (!opened) throw std::runtime_error(opened.error().describe());
    return std::move(*opened);
  }();
  return *device;
}

class Bytes : public interpret::GuestBytes {
 public:
  explicit Bytes(std::vector<uint32_t>& words) : bytes_(std::as_writable_bytes(std::span(words))) {}
  bool read(uint64_t address, std::span<std::byte> out) override {
    const std::span<std::byte> from = find(address, out.size());
    std::copy(from.begin(), from.end(), out.begin());
    return !from.empty();
  }
  bool write(uint64_t address, std::span<const std::byte> in) override {
    const std::span<std::byte> to = find(address, in.size());
    if (!to.empty()) std::copy(in.begin(), in.end(), to.begin());
    return !to.empty();
  }

 private:
  std::span<std::byte> find(uint64_t address, size_t size) const {
    const uint64_t at = address - kMemory;
    if (at >= bytes_.size() || size > bytes_.size() - at) return {};
    return bytes_.subspan(at, size);
  }
  std::span<std::byte> bytes_;
};

struct Prepared {
  Program program;
  std::vector<uint32_t> memory;
  std::array<uint32_t, 16> user{};
  uint32_t rsrc1 = 0xf0u << 12 | 1u << 21, rsrc2 = 0, threads = 0;
};

Prepared prepare(const MemoryProgram& p, uint32_t wave) {
  Prepared out;
  std::string text = p.text;
  for (size_t at = text.find("{m}"); at != std::string::npos; at = text.find("{m}", at)) {
    text.replace(at, 3, wave == 64 ? "vcc" : "vcc_lo");
  }
  const auto words = testing::assemble(text, wave, p.processor);
  out.program = testing::program_of(words, p.processor == "gfx1030" ? Target::gfx1030 : Target::gfx1013);
  out.memory = p.memory;
  out.memory.resize(std::max<size_t>(1, (p.memory.size() * 4 + kPage - 1) / kPage) * kPage / 4);
  out.user[0] = static_cast<uint32_t>(kMemory);
  out.user[1] = static_cast<uint32_t>(kMemory >> 32);
  for (const auto& [index, value] : p.sgprs) out.user[index] = value;
  out.threads = p.threads != 0 ? p.threads : wave;
  out.rsrc2 = 16u << 1 | 1u << 7 | (p.lds_bytes + 511) / 512 << 15 | (p.scratch_dwords != 0 ? 1u : 0u);
  return out;
}

struct Interpreted {
  std::vector<uint32_t> memory;
  std::string refusal;
};

Interpreted interpret_on(const MemoryProgram& p, Prepared state, uint32_t wave) {
  interpret::Dispatch dispatch;
  dispatch.program = &state.program;
  dispatch.program_address = 0x1000;
  dispatch.wave = wave;
  dispatch.rsrc1 = state.rsrc1;
  dispatch.rsrc2 = state.rsrc2;
  dispatch.user_data = state.user;
  dispatch.group_size = {state.threads, 1, 1};
  dispatch.groups = {p.groups, 1, 1};
  dispatch.scratch_dwords = p.scratch_dwords;
  dispatch.step_limit = 10'000'000;
  Bytes bytes(state.memory);
  const auto outcome = interpret::run(dispatch, bytes);
  Interpreted out{std::move(state.memory), {}};
  if (outcome.refusal) out.refusal = fmt::format("{}: {}", outcome.refusal->mnemonic, outcome.refusal->reason);
  return out;
}

std::vector<uint32_t> interpreted_or_throw(const MemoryProgram& p, const Prepared& state, uint32_t wave) {
  Interpreted out = interpret_on(p, state, wave);
  if (!out.refusal.empty()) throw std::runtime_error("interpreter: " + out.refusal);
  return std::move(out.memory);
}

struct Way {
  LaneLayout layout;
  bool bind = false, lds_in_memory = false;
  bool constants = false;  // what images' descriptors say is given when the pipeline is made
  std::string text() const {
    return fmt::format("{}{}{}{}", layout.text(), bind ? ", bound" : "", lds_in_memory ? ", LDS in memory" : "",
                       constants ? ", constant descriptors" : "");
  }
};

TranslateOptions options_for(const MemoryProgram& p, const Prepared& state, const Way& way) {
  TranslateOptions options;
  options.layout = way.layout;
  options.host = dispatch::host_features(test_device().facts());
  // The exchange still has room.
  if (way.lds_in_memory) options.host.workgroup_memory = std::min(p.lds_bytes - 1, 1024u);
  options.group_size = {state.threads, 1, 1};
  options.rsrc1 = state.rsrc1;
  options.rsrc2 = state.rsrc2;
  options.bind_buffers = way.bind;
  options.scratch_dwords = p.scratch_dwords;
  return options;
}

std::string text_of(const std::vector<ShaderRefusal>& refusals) {
  std::string text;
  for (const auto& r : refusals) text += fmt::format("{:#x} {}: {}\n", r.offset, r.mnemonic, r.reason);
  return text;
}

// Device memory of a run: the page table, the guest's pages, what the module reports.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::span<const uint32_t> memory)
      : level1_(make(kLevel1Entries * 8 + sizeof(PageTableWindow))),
        level2_(make(2048 * sizeof(PageEntry))),
        guest_(make(memory.size() * 4)),
        info_(make(4096)) {
    std::memcpy(guest_.mapped().data(), memory.data(), memory.size() * 4);
    const uint64_t second = level2_.address().value;
    std::memcpy(level1_.mapped().data() + (kMemory >> kLevel1Shift) * 8, &second, 8);
    for (uint64_t page = 0; page < memory.size() * 4 / kPage; ++page) {
      const uint64_t at = guest_.address().value + page * kPage;
      const PageEntry entry{at, at};
      const uint64_t index = ((kMemory >> kPageBits) + page) & 2047;
      std::memcpy(level2_.mapped().data() + index * sizeof entry, &entry, sizeof entry);
    }
  }
  static vulkan::Buffer make(uint64_t bytes) {
    auto made = vulkan::Buffer::create(test_device(), orrery::Bytes{bytes}, vulkan::BufferPlace::shared, "memory test");
    if (!made) throw std::runtime_error(made.error().describe());
    std::memset(made->mapped().data(), 0, bytes);
    return std::move(*made);
  }
  const vulkan::Buffer& guest() const { return guest_; }
  std::vector<uint32_t> contents(size_t words) const {
    std::vector<uint32_t> out(words);
    std::memcpy(out.data(), guest_.mapped().data(), words * 4);
    return out;
  }
  PushConstants push() const {
    PushConstants push{};
    push.page_table = level1_.address().value;
    push.escapes = info_.address().value;
    push.bound_info = info_.address().value + 1024;
    push.code_low = 0x1000;
    return push;
  }
  EscapeReport report() const {
    EscapeReport out;
    std::memcpy(&out, info_.mapped().data(), sizeof out);
    return out;
  }
  void set_bound_info(std::span<const BoundInfo> bound) {
    std::memcpy(info_.mapped().data() + 1024, bound.data(), bound.size_bytes());
  }

 private:
  vulkan::Buffer level1_, level2_, guest_, info_;
};

struct DeviceRun {
  std::vector<uint32_t> memory;
  EscapeReport report;
};

// A descriptor that is computed from user data alone.
bool read_words(const DescriptorSource& source, const Prepared& state, uint32_t* words) {
  if (source.reads_memory()) return false;
  const auto values = evaluate(source.steps, source.words, {.user_data = state.user});
  for (size_t n = 0; values && n < 4; ++n) words[n] = static_cast<uint32_t>((*values)[n]);
  return values.has_value();
}

// What descriptors say, as specialization constants; none where the module has none, or some that lie in memory.
std::vector<uint32_t> constants_of(const Module& module, const Prepared& state) {
  if (!module.has_constants()) return {};
  std::vector<DescriptorConstants::ImageWords> images;
  std::vector<DescriptorConstants::SamplerWords> samplers;
  std::vector<DescriptorConstants::BufferWords> buffers;
  for (const TracedImage& image : module.images) {
    uint32_t* const words = images.emplace_back().data();
    if (!read_words(image.source.low, state, words) || !read_words(image.source.high, state, words + 4)) return {};
  }
  for (const DescriptorSource& sampler : module.samplers) {
    if (!read_words(sampler, state, samplers.emplace_back().data())) return {};
  }
  for (const BoundBuffer& buffer : module.buffers) {
    std::array<uint32_t, 4> words;
    if (!read_words(buffer.source, state, words.data())) return {};
    buffers.push_back(buffer.typed ? DescriptorConstants::BufferWords{words[1], words[3]}
                                   : DescriptorConstants::BufferWords{});
  }
  return DescriptorConstants::values(images, samplers, buffers);
}

// Nothing: the layout or the descriptors do not allow this run.
std::optional<DeviceRun> run_on_device(const MemoryProgram& p, const Prepared& state, const Way& way) {
  const auto& device = test_device();
  auto module = translate(state.program, options_for(p, state, way));
  if (!module) throw std::runtime_error("translator: " + text_of(module.error()));
  if (way.bind && module->buffers.empty()) return std::nullopt;
  std::vector<uint32_t> constants;
  if (way.constants) {
    constants = constants_of(*module, state);
    if (constants.empty()) return std::nullopt;
  }
  if (way.lds_in_memory && !module->lds_in_memory) throw std::runtime_error("LDS is not in memory");
  if (std::string said = test::validate_only(module->spirv); !said.empty())
    throw std::runtime_error("spirv-val: " + said);
  DeviceMemory memory(state.memory);
  std::vector<vulkan::BoundRange> ranges;
  std::vector<BoundInfo> infos;
  for (const auto& buffer : module->buffers) {
    if (buffer.source.reads_memory()) return std::nullopt;
    const auto values = evaluate(buffer.source.steps, buffer.source.words, {.user_data = state.user});
    if (!values) return std::nullopt;
    std::array<uint32_t, 4> words;
    std::ranges::transform(*values, words.begin(), [](uint64_t v) { return static_cast<uint32_t>(v); });
    const auto descriptor = dispatch::decode_descriptor(words);
    const auto extent = dispatch::bindable_extent(descriptor, buffer.scalar);
    if (!extent.bytes) return std::nullopt;
    const uint64_t offset = descriptor.base.value - kMemory, size = state.memory.size() * 4;
    if (offset >= size || *extent.bytes > size - offset) return std::nullopt;
    const uint64_t aligned = offset / device.facts().storage_alignment * device.facts().storage_alignment;
    const uint64_t end = (offset + *extent.bytes + 3) / 4 * 4;
    ranges.push_back({&memory.guest(), orrery::Bytes{aligned}, orrery::Bytes{std::max<uint64_t>(end - aligned, 4)}});
    infos.push_back({static_cast<uint32_t>(offset - aligned), static_cast<uint32_t>(*extent.bytes)});
  }
  memory.set_bound_info(infos);
  PushConstants push = memory.push();
  push.user_data = state.user;
  vulkan::Buffer scratch;
  if (module->group_memory != 0) {
    scratch = DeviceMemory::make(p.groups * module->group_memory);
    push.scratch = scratch.address().value;
  }
  auto pipeline = vulkan::ComputePipeline::create(device, {module->spirv, static_cast<uint32_t>(module->buffers.size()),
                                                           way.layout.required_subgroup(), "memory test", constants});
  if (!pipeline) throw std::runtime_error(pipeline.error().describe());
  const auto done = vulkan::run_single(device, *pipeline, ranges, std::as_bytes(std::span(&push, 1)), {p.groups, 1, 1});
  if (!done) throw std::runtime_error(done.error().describe());
  return DeviceRun{memory.contents(state.memory.size()), memory.report()};
}

bool is_in_memory(const MemoryProgram& p, const Prepared& state, const Way& way) {
  const auto module = translate(state.program, options_for(p, state, way));
  if (!module) throw std::runtime_error("translator: " + text_of(module.error()));
  return module->lds_in_memory;
}

std::vector<Way> ways(const MemoryProgram& p, const Prepared& state, LaneLayout layout) {
  std::vector<Way> out;
  for (const bool bind : {false, true}) {
    if (!bind && !p.addressed) continue;
    out.push_back({layout, bind});
    // Where LDS is in memory anyway it would be the same.
    if (p.lds_homes && !is_in_memory(p, state, {layout, bind})) out.push_back({layout, bind, true});
  }
  out.push_back({.layout = layout, .constants = true});
  if (p.constants) out.push_back({.layout = layout, .bind = true, .constants = true});
  return out;
}

std::vector<LaneLayout> layouts(const MemoryProgram& p, uint32_t wave) {
  const auto& facts = test_device().facts();
  std::vector<LaneLayout> out;
  for (uint32_t s = facts.min_subgroup_size; s <= facts.max_subgroup_size && s <= wave; s *= 2) {
    out.push_back(subgroup_layout(wave, s));
  }
  if (p.only_narrow) out.resize(1);
  if (p.whole_wave && p.threads <= wave) out.push_back(whole_wave_layout(wave));
  if (p.exchange && p.threads <= wave) out.push_back(workgroup_layout(wave));
  return out;
}

}  // namespace

std::vector<uint32_t> interpreted(const MemoryProgram& program, uint32_t wave) {
  return interpreted_or_throw(program, prepare(program, wave), wave);
}

std::string interpreter_refusal(const MemoryProgram& program) {
  return interpret_on(program, prepare(program, 32), 32).refusal;
}

uint32_t image_refusal_note(const MemoryProgram& program) {
  const auto run = run_on_device(program, prepare(program, 32), {layouts(program, 32).front(), false});
  if (!run) throw std::runtime_error("nothing was run");
  return run->report.image_refusal;
}

std::string refusals(const MemoryProgram& program) {
  const Prepared state = prepare(program, 32);
  const uint32_t subgroup = std::min(32u, test_device().facts().max_subgroup_size);
  const auto module = translate(state.program, options_for(program, state, {subgroup_layout(32, subgroup), true}));
  return module ? std::string() : text_of(module.error());
}

std::string refusals_without_wide_atomics(const MemoryProgram& program) {
  const Prepared state = prepare(program, 32);
  TranslateOptions options = options_for(program, state, {subgroup_layout(32, 8), true});
  options.host.min_subgroup = options.host.max_subgroup = 8;
  options.host.buffer_int64_atomics = options.host.shared_int64_atomics = false;
  const auto module = translate(state.program, options);
  return module ? std::string() : text_of(module.error());
}

std::string invalid_as_views(const MemoryProgram& program) {
  for (const uint32_t wave : {32u, 64u}) {
    const Prepared state = prepare(program, wave);
    for (const LaneLayout layout : {subgroup_layout(wave, 8), subgroup_layout(wave, 32), whole_wave_layout(wave)}) {
      TranslateOptions options = options_for(program, state, {layout, true});
      options.host.min_subgroup = 8;
      options.host.max_subgroup = 32;
      options.host.lockstep_subgroups = false;
      options.host.shared_int64_atomics = options.host.workgroup_views = true;
      const auto module = translate(state.program, options);
      if (!module) return text_of(module.error());
      if (module->lds_in_memory || module->workgroup_bytes == 0) return "LDS is in memory";
      if (std::string said = test::validate_only(module->spirv); !said.empty()) return layout.text() + ": " + said;
    }
  }
  return {};
}

bool lds_in_memory(const MemoryProgram& program) {
  const Prepared state = prepare(program, 32);
  const uint32_t subgroup = std::min(32u, test_device().facts().max_subgroup_size);
  return is_in_memory(program, state, {subgroup_layout(32, subgroup), true});
}

std::string difference(const MemoryProgram& program) {
  try {
    uint32_t runs = 0;
    for (const uint32_t wave : {32u, 64u}) {
      if (wave == 64 && !program.both_widths) continue;
      const Prepared state = prepare(program, wave);
      const auto wanted = interpreted_or_throw(program, state, wave);
      for (const LaneLayout layout : layouts(program, wave)) {
        for (const Way& way : ways(program, state, layout)) {
          const auto got = run_on_device(program, state, way);
          if (!got) continue;
          ++runs;
          if (const EscapeReport& report = got->report; report.image_refusal != 0 || report.loops_cut != 0) {
            return fmt::format("wave{} {}: refused an image ({:#x}) or cut a loop ({})", wave, way.text(),
                               report.image_refusal, report.loops_cut);
          }
          const size_t count = program.compared != 0 ? program.compared : wanted.size();
          for (size_t n = 0; n < count; ++n) {
            if (wanted[n] == got->memory[n]) continue;
            return fmt::format("wave{} {}: dword {}: wanted {:08x}, got {:08x}", wave, way.text(), n, wanted[n],
                               got->memory[n]);
          }
        }
      }
    }
    return runs == 0 ? "nothing was run" : "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

void describe(MemoryProgram& program, const Descriptor& d) {
  const uint64_t base = kMemory + d.offset;
  program.sgprs[4] = static_cast<uint32_t>(base);
  program.sgprs[5] = static_cast<uint32_t>(base >> 32) | d.stride << 16 | (d.swizzle ? 1u << 31 : 0u);
  program.sgprs[6] = d.records;
  program.sgprs[7] = 0xfacu | d.third | d.check << 28;
}

std::vector<uint32_t> random_words(uint32_t seed, size_t count) {
  constexpr uint32_t kEdges[] = {0,          1,          0x7f,       0x80,       0xff,       0x7fff,     0x8000,
                                 0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000,
                                 0xff800000, 0x7fc00000, 0x7f812345, 0x00000400, 0x38800000, 0x387fffff, 0x477fe000,
                                 0x47800000, 0x3f000000, 0x3efffffe, 0x33800000, 0x80808080, 0x7f7f7f7f, 0x01234567};
  std::mt19937 random(seed);
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) {
    word = static_cast<uint32_t>(random());
    const uint32_t how = static_cast<uint32_t>(random()) % 4;
    if (how == 0) word = kEdges[random() % std::size(kEdges)];
    if (how == 1) word = 0x3f800000 - (word >> 3) % 0x2000000;  // between 0 and 1
  }
  return words;
}

}  // namespace orrery::shader::memory_test
