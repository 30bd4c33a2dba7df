// Every instruction of the table, in random forms, on the device and in the host interpreter. The two share the decoder
// and nothing else. ORRERY_SEMANTICS_ROUNDS=20 makes it the long run.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "gpu-service/shader/decode/decoder.hpp"
#include "gpu-service/shader/interpret/step.hpp"
#include "tests/gpu-service/shader/semantics/device_run.hpp"
#include "tests/gpu-service/shader/semantics/expectation.hpp"
#include "tests/gpu-service/shader/semantics/random_instructions.hpp"

namespace orrery::shader::semantics::test {
namespace {

constexpr uint32_t kPerModule = 12, kStates = 6;

bool is_relative(const Instruction& i) {
  const std::string_view name = mnemonic(i.opcode);
  return name.find("movrel") != name.npos || name == "v_swaprel_b32";
}

// Empty when the interpreter refuses.
std::optional<WaveState> interpreted(const Instruction& instruction, const WaveState& before, uint32_t mode) {
  interpret::Dispatch dispatch;
  dispatch.wave = before.lanes;
  interpret::Outcome outcome;
  interpret::Group group;
  interpret::Wave wave;
  wave.lanes = before.lanes;
  wave.scc = before.scc;
  wave.mode = mode;
  wave.vgprs.resize(size_t{256} * before.lanes);
  for (uint32_t n = 0; n < kVgprs; ++n) std::copy(before.vgprs[n].begin(), before.vgprs[n].end(), wave.row(n));
  std::copy(before.sgprs.begin(), before.sgprs.end(), wave.sgpr.begin());
  wave.set_pair(interpret::kVcc, before.vcc);
  wave.set_pair(interpret::kExec, before.exec);
  wave.sgpr[interpret::kM0] = before.m0;
  wave.group = &group;
  wave.outcome = &outcome;
  wave.dispatch = &dispatch;
  const interpret::Step step = interpret::prepare(instruction);
  step.run(wave, step);
  if (wave.stop == interpret::Stop::refused) return std::nullopt;
  WaveState after = before;
  // What the tests see of an instruction.
  for (uint32_t n = kFirstWritten; n < kFirstWritten + 3; ++n) {
    std::copy_n(wave.row(n), before.lanes, after.vgprs[n].begin());
  }
  std::copy_n(wave.sgpr.begin(), kSgprs, after.sgprs.begin());
  after.vcc = wave.pair(interpret::kVcc);
  after.exec = wave.exec();
  after.m0 = wave.sgpr[interpret::kM0];
  after.scc = wave.scc;
  return after;
}

Comparison comparison_of(const Instruction& i) {
  const std::string_view name = mnemonic(i.opcode);
  auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  uint32_t ulp = 0;
  if (has("_rcp_") || has("_sqrt_") || has("_rsq_")) ulp = 2;
  if (has("_exp_f") || has("_log_f")) ulp = 8;
  if (name.starts_with("v_dot2") && has("f32")) return {Comparison::As::f32, 0};
  if (has("pk") && has("f16")) return {Comparison::As::packed_f16, ulp};
  if (i.sdwa.present) return {Comparison::As::bits, 0};
  if (i.destination.kind != OperandKind::vgpr || name.starts_with("v_cvt_i") || name.starts_with("v_cvt_u")) return {};
  if (i.destination.dwords == 2) return {has("f64") ? Comparison::As::f64 : Comparison::As::bits, ulp};
  if (has("cvt_f16") || (has("f16") && !has("cvt_f32"))) return {Comparison::As::packed_f16, ulp};
  if (has("f32") && !has("_frexp_exp")) return {Comparison::As::f32, ulp};
  return {};
}

// Where the two may differ, by mnemonic, and why.
std::string_view known_difference(const Instruction& i, uint32_t mode) {
  const std::string_view name = mnemonic(i.opcode);
  if (i.opcode == Opcode::v_fma_f64 || i.opcode == Opcode::v_div_fmas_f64)
    return "fused in software on this device: inexact where the product underflows";
  if (i.opcode == Opcode::v_mad_i64_i32)
    return "the mask: bit 64 of the sum or signed overflow; the document is silent";
  constexpr uint32_t kTowardMinus = 2, kKept = 3;
  if (name.starts_with("v_fract_f") && (mode >> (name.ends_with("f32") ? 0 : 2) & 3) == kTowardMinus)
    return "x - x is -0 when rounding toward minus infinity; the document gives no sign";
  if (name.starts_with("v_fma_mix") && (mode >> 4 & 3) != kKept)
    return "not mended yet: the sign of a zero sum when a constant is a denormal that is flushed";
  if (name.starts_with("v_sin_") || name.starts_with("v_cos_")) return "an approximation with an absolute error";
  return {};
}

struct Found {
  std::map<std::string, std::string> differences;  // by mnemonic: the first
  std::map<std::string, uint32_t> refused;
  uint32_t compared = 0;
};

void compare(vulkan::Device& device, std::span<const Instruction> group, Values values, uint32_t lanes, uint32_t mode,
             uint32_t seed, Found& found) {
  auto states = random_states(seed, kStates, lanes, values);
  if (is_relative(group[0])) {
    // To registers that are there, and far outside; even for pairs.
    constexpr uint32_t kOffsets[kStates] = {0, 0x20000, 0x20002, 2, 0x10000400, 0};
    for (uint32_t n = 0; n < kStates; ++n) states[n].m0 = kOffsets[n];
  }
  const uint32_t subgroup = std::min(lanes, device.facts().max_subgroup_size);
  DeviceRun run = run_on_device(device, group, states, subgroup, mode);
  if (!run.error.empty()) {
    // A form that is refused: the others one by one.
    if (group.size() == 1) {
      ++found.refused[run.error.substr(0, 100)];
    } else {
      for (const Instruction& one : group) compare(device, {&one, 1}, values, lanes, mode, seed, found);
    }
    return;
  }
  for (size_t n = 0; n < group.size(); ++n) {
    const std::string name(mnemonic(group[n].opcode));
    for (size_t s = 0; s < states.size(); ++s) {
      const auto want = interpreted(group[n], states[s], mode);
      if (!want) {
        ++found.refused["interpreter: " + name];
        break;
      }
      ++found.compared;
      const std::string text = difference(comparison_of(group[n]), states[s], *want, run.after[n][s]);
      if (text.empty() || !known_difference(group[n], mode).empty()) continue;
      found.differences.emplace(name, fmt::format("wave{} mode {:x} {}\n  {}", lanes, mode, to_text(group[n]), text));
      break;
    }
  }
}

TEST(AgainstInterpreter, every_instruction_in_random_forms_does_the_same) {
  vulkan::Device* const device = test_device();
  ASSERT_NE(device, nullptr);
  const char* const asked = std::getenv("ORRERY_SEMANTICS_ROUNDS");
  const uint32_t rounds = asked != nullptr ? static_cast<uint32_t>(std::max(1, std::atoi(asked))) : 1;
  const char* const only = std::getenv("ORRERY_SEMANTICS_ONLY");
  Found found;
  for (uint32_t round = 0; round < rounds; ++round) {
    // Odd rounds run wave64.
    for (uint32_t lanes : {32u, 64u}) {
      if (rounds == 1 && lanes == 64) continue;
      std::mt19937 random(1000 * round + lanes);
      std::map<std::pair<Values, bool>, std::vector<Instruction>> by_values;
      for (const Instruction& i : random_instructions(random, 1, lanes)) {
        if (only != nullptr && mnemonic(i.opcode).find(only) == std::string_view::npos) continue;
        by_values[{values_of(i), is_relative(i)}].push_back(i);
      }
      for (const auto& [key, instructions] : by_values) {
        for (size_t first = 0; first < instructions.size(); first += kPerModule) {
          const size_t size = std::min<size_t>(kPerModule, instructions.size() - first);
          // Any rounding, denormals, clamp of NaN and IEEE mode; one in three the usual.
          const uint32_t mode = random() % 3 == 0 ? kUsualMode : static_cast<uint32_t>(random()) & 0x3ff;
          compare(*device, std::span(instructions).subspan(first, size), key.first, lanes, mode,
                  static_cast<uint32_t>(random()), found);
        }
      }
    }
  }
  for (const auto& [name, text] : found.differences) ADD_FAILURE() << text;
  for (const auto& [what, count] : found.refused) std::printf("refused %u: %s\n", count, what.c_str());
  std::printf("%u comparisons\n", found.compared);
  EXPECT_GT(found.compared, only != nullptr ? 0u : 1000u);
}

}  // namespace
}  // namespace orrery::shader::semantics::test
