#include "tests/gpu-service/shader/semantics/device_run.hpp"

#include <fmt/format.h>
#include <cstring>

#include "gpu-service/shader/passes/passes.hpp"
#include "gpu-service/shader/semantics/table.hpp"
#include "gpu-service/shader/spirv/emitter.hpp"
#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "gpu-service/vulkan/single_run.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::semantics::test {
namespace {

using ir::Builder;
using ir::Op;
using ir::Type;
using ir::Value;

constexpr uint32_t kVccWord = kSgprs, kExecWord = kSgprs + 2, kM0Word = kSgprs + 4, kSccWord = kSgprs + 5;
constexpr uint32_t kM0 = Builder::kM0;

uint32_t input_words(uint32_t lanes) { return kScalarWords + kVgprs * lanes; }
// Results: four words per lane.
uint32_t output_words(uint32_t lanes) { return 4 * lanes; }

// One block: for every instruction the state is set up, the instruction done, what it may have written stored.
class Writer {
 public:
  Writer(Builder& b, uint32_t instructions) : b_(b), lanes_(b.options().layout.wave), instructions_(instructions) {}

  void load_state() {
    in_ = b_.binding(DescriptorSource::user(0));
    out_ = b_.binding(DescriptorSource::user(4));
    const Value group = b_.op(Op::group_id, Type::u32, {});
    const Value first = b_.op(Op::imul, group, b_.u32(input_words(lanes_) * 4));
    for (uint32_t n = 0; n < kScalarWords; ++n) {
      const auto v = b_.load({.space = ir::Space::buffer, .binding = in_}, b_.b1(true), b_.add(first, b_.u32(n * 4)));
      scalars_.push_back(b_.read_lane(v[0], b_.u32(0)));
    }
    const Value lane = b_.shl(b_.lane_id(), b_.u32(2));
    for (uint32_t n = 0; n < kVgprs; ++n) {
      const Value address = b_.add(first, b_.add(lane, b_.u32((kScalarWords + n * lanes_) * 4)));
      vgprs_.push_back(b_.load({.space = ir::Space::buffer, .binding = in_}, b_.b1(true), address)[0]);
    }
    out_first_ = b_.op(Op::imul, group, b_.u32(output_words(lanes_) * instructions_ * 4));
  }

  void set_up() {
    for (uint32_t n = 0; n < kVgprs; ++n) b_.set_vgpr_all_lanes(n, vgprs_[n]);
    for (uint32_t n = 0; n < kSgprs; ++n) b_.set_sgpr(n, scalars_[n]);
    for (uint32_t n = 0; n < 2; ++n) {
      b_.set_sgpr(Builder::kVcc + n, scalars_[kVccWord + n]);
      b_.set_sgpr(Builder::kExec + n, scalars_[kExecWord + n]);
    }
    b_.set_sgpr(kM0, scalars_[kM0Word]);
    b_.set_scc(b_.compare(Op::ine, scalars_[kSccWord], b_.u32(0)));
  }

  // One store per lane: v8, v9, v10, and word n of the scalar results in lane n. Drivers take long over many stores.
  void store(uint32_t instruction) {
    std::vector<Value> words;
    for (uint32_t n = kFirstWrittenSgpr; n < kSgprs; ++n) words.push_back(b_.sgpr(n));
    for (uint32_t n = 0; n < 2; ++n) {
      words.push_back(n == 0 || lanes_ == 64 ? b_.sgpr(Builder::kVcc + n) : b_.u32(0));
    }
    for (uint32_t n = 0; n < 2; ++n) {
      words.push_back(n == 0 || lanes_ == 64 ? b_.sgpr(Builder::kExec + n) : b_.u32(0));
    }
    words.push_back(b_.sgpr(kM0));
    words.push_back(b_.select(b_.scc(), b_.u32(1), b_.u32(0)));
    const Value lane = b_.lane_id();
    Value scalar = b_.u32(0);
    for (uint32_t n = 0; n < words.size(); ++n) {
      scalar = b_.select(b_.compare(Op::ieq, lane, b_.u32(n)), words[n], scalar);
    }
    const Value data[] = {b_.vgpr(8), b_.vgpr(9), b_.vgpr(10), scalar};
    const Value first = b_.add(out_first_, b_.u32(instruction * output_words(lanes_) * 4));
    b_.store({.space = ir::Space::buffer, .components = 4, .binding = out_}, b_.b1(true),
             b_.add(first, b_.shl(lane, b_.u32(4))), data);
  }

 private:
  Builder& b_;
  uint32_t lanes_, instructions_;
  uint32_t in_ = 0, out_ = 0;
  std::vector<Value> scalars_, vgprs_;
  Value out_first_;
};

std::expected<Module, std::string> translate_all(std::span<const Instruction> instructions,
                                                 const TranslateOptions& options) {
  cfg::StructuredGraph graph;
  graph.blocks.resize(1);
  ir::Function function;
  function.graph = &graph;
  const Program nothing;
  Builder b(function, nothing, options);
  b.start_block(0);
  Writer writer(b, static_cast<uint32_t>(instructions.size()));
  writer.load_state();
  for (uint32_t n = 0; n < instructions.size(); ++n) {
    const ir::Semantic semantic = semantic_table()[static_cast<size_t>(instructions[n].opcode)];
    const std::string name(mnemonic(instructions[n].opcode));
    if (semantic == nullptr) return std::unexpected(name + ": no semantics");
    writer.set_up();
    if (auto done = semantic(b, instructions[n]); !done) return std::unexpected(name + ": " + done.error());
    if (std::string reason = b.take_refusal(); !reason.empty()) return std::unexpected(name + ": " + reason);
    writer.store(n);
  }
  b.end_block();
  b.finish();
  passes::run(function, passes::wishes(options.layout, options.host));
  auto module = spirv::Emitter(function, options).emit();
  if (!module) return std::unexpected(module.error().front().reason);
  if (std::string said = shader::test::validate_only(module->spirv); !said.empty()) {
    return std::unexpected("spirv-val: " + said);
  }
  return std::move(*module);
}

void put(const WaveState& state, uint32_t* words) {
  std::copy(state.sgprs.begin(), state.sgprs.end(), words);
  words[kVccWord] = static_cast<uint32_t>(state.vcc);
  words[kVccWord + 1] = static_cast<uint32_t>(state.vcc >> 32);
  words[kExecWord] = static_cast<uint32_t>(state.exec);
  words[kExecWord + 1] = static_cast<uint32_t>(state.exec >> 32);
  words[kM0Word] = state.m0;
  words[kSccWord] = state.scc ? 1 : 0;
  words += kScalarWords;
  for (const auto& row : state.vgprs) words = std::copy(row.begin(), row.end(), words);
}

WaveState get(const WaveState& before, const uint32_t* words) {
  WaveState state = before;
  auto word = [&](uint32_t n) { return words[n * 4 + 3]; };
  for (uint32_t n = 0; n < 4; ++n) state.sgprs[kFirstWrittenSgpr + n] = word(n);
  const uint64_t high = before.lanes == 64 ? 0 : ~0xffffffffull;
  state.vcc = (word(4) | uint64_t{word(5)} << 32) | (before.vcc & high);
  state.exec = (word(6) | uint64_t{word(7)} << 32) | (before.exec & high);
  state.m0 = word(8);
  state.scc = word(9) != 0;
  for (uint32_t l = 0; l < before.lanes; ++l) {
    for (uint32_t n = 0; n < 3; ++n) state.vgprs[kFirstWritten + n][l] = words[l * 4 + n];
  }
  return state;
}

}  // namespace

DeviceRun run_on_device(const vulkan::Device& device, std::span<const Instruction> instructions,
                        std::span<const WaveState> states, uint32_t subgroup, uint32_t mode) {
  DeviceRun run;
  const uint32_t lanes = states[0].lanes;
  TranslateOptions options;
  options.layout = {.wave = lanes, .subgroup = subgroup, .k = lanes / subgroup};
  options.group_size = {lanes, 1, 1};
  options.rsrc2 = (16u << 1) | (1u << 7);
  // 16 VGPRs.
  options.rsrc1 = (lanes == 32 ? 1u : 3u) | (mode & 0xff) << 12 | (mode >> 8 & 1) << 21 | (mode >> 9 & 1) << 23;
  options.host.fuses_fma = device.facts().fuses_fma;
  options.host.rounds_halves = device.facts().rounds_halves;
  options.host.fma_keeps_denormals = device.facts().fma_keeps_denormals;
  options.host.orders_zeros = device.facts().orders_zeros;
  options.host.float16 = device.facts().float16;
  options.host.float64 = device.facts().float64;
  auto module = translate_all(instructions, options);
  if (!module) {
    run.error = module.error();
    return run;
  }
  const uint64_t in_bytes = states.size() * input_words(lanes) * 4;
  const uint64_t out_bytes = states.size() * instructions.size() * output_words(lanes) * 4;
  auto buffer = [&](uint64_t bytes) {
    return vulkan::Buffer::create(device, Bytes{bytes}, vulkan::BufferPlace::shared, "semantics");
  };
  auto in = buffer(in_bytes), out = buffer(out_bytes), info = buffer(64);
  auto pipeline = vulkan::ComputePipeline::create(
      device, {module->spirv, static_cast<uint32_t>(module->buffers.size()), subgroup, "semantics"});
  if (!in || !out || !info || !pipeline) {
    run.error = !pipeline ? pipeline.error().describe() : "no buffer";
    return run;
  }
  auto* words = reinterpret_cast<uint32_t*>(in->mapped().data());
  for (size_t s = 0; s < states.size(); ++s) put(states[s], words + s * input_words(lanes));
  const BoundInfo bound[] = {{0, static_cast<uint32_t>(in_bytes)}, {0, static_cast<uint32_t>(out_bytes)}};
  std::memcpy(info->mapped().data(), bound, sizeof(bound));
  PushConstants push{};
  push.bound_info = info->address().value;
  const vulkan::BoundRange ranges[] = {{&*in, Bytes{0}, Bytes{in_bytes}}, {&*out, Bytes{0}, Bytes{out_bytes}}};
  auto done = vulkan::run_single(device, *pipeline, ranges, std::as_bytes(std::span(&push, 1)),
                                 {static_cast<uint32_t>(states.size()), 1, 1});
  if (!done) {
    run.error = done.error().describe();
    return run;
  }
  const auto* results = reinterpret_cast<const uint32_t*>(out->mapped().data());
  run.after.resize(instructions.size());
  for (size_t n = 0; n < instructions.size(); ++n) {
    for (size_t s = 0; s < states.size(); ++s) {
      run.after[n].push_back(get(states[s], results + (s * instructions.size() + n) * output_words(lanes)));
    }
  }
  return run;
}

}  // namespace orrery::shader::semantics::test
