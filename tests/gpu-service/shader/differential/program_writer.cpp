#include "tests/gpu-service/shader/differential/program_writer.hpp"

#include <fmt/format.h>

#include "tests/gpu-service/shader/differential/instruction_templates.hpp"
#include "tests/gpu-service/shader/differential/memory_map.hpp"

namespace orrery::shader::differential {

std::string ProgramWriter::pair(char file, uint32_t first) { return fmt::format("{}[{}:{}]", file, first, first + 1); }

std::string ProgramWriter::mask(uint32_t sgpr) const { return wide() ? pair('s', sgpr) : fmt::format("s{}", sgpr); }

void ProgramWriter::line(std::string text) { program_.lines.push_back({fill_in(*this, text), unit_}); }

std::string ProgramWriter::new_label() { return fmt::format("{}_{}", prefix_, labels_++); }

std::string ProgramWriter::inline_integer() { return std::to_string(static_cast<int>(below(81)) - 16); }

std::string ProgramWriter::inline_float() {
  static constexpr const char* kFloats[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0"};
  return one_of(kFloats);
}

std::string ProgramWriter::literal() {
  static constexpr uint32_t kEdges[] = {0x80000000, 0x7fffffff, 0xffff,     0x10000,    0xff00ff00, 0x3f800001,
                                        0x00800000, 0x007fffff, 0x7f7fffff, 0xff800000, 0x80000001, 0x0f0f0f0f};
  return fmt::format("{:#x}", chance(2) ? one_of(kEdges) : static_cast<uint32_t>(random_()) | 0x1000);
}

void ProgramWriter::random_condition() {
  switch (below(5)) {
    case 0:
      line("s_cmp_lt_i32 {s}, {sl}");
      break;
    case 1:
      line("s_bitcmp1_b32 {s}, {n5}");
      break;
    case 2:
      line("s_cmp_lg_u32 {s}, {sl}");
      break;
    case 3:
      line("s_and_{b} {xm}, {m}, {m}");
      break;
    default:
      line("s_cmp_ge_u32 {s}, {sl}");
      break;
  }
}

void ProgramWriter::compare_lanes(const std::string& to) {
  static constexpr const char* kCompares[] = {
      "v_cmp_lt_i32 {to}, {i}, {c}",  "v_cmp_gt_u32 {to}, {i}, {c}",  "v_cmp_eq_u32 {to}, {n4}, {v}",
      "v_cmp_ne_u32 {to}, {i}, {v}",  "v_cmp_lt_f32 {to}, {f}, {cf}", "v_cmp_nge_f32 {to}, {f}, {cf}",
      "v_cmp_gt_u32 {to}, {n6}, v3",  "v_cmp_le_u32 {to}, {n6}, v3",  "v_cmp_gt_i16 {to}, {v}, {c}",
      "v_cmp_o_f32 {to}, {vf}, {cf}", "v_cmp_lg_f64 {to}, {D}, {cD}", "v_cmp_lt_u64 {to}, {v2}, {v2}",
      "v_cmp_t_u32 {to}, {i}, {v}",   "v_cmp_f_i32 {to}, {i}, {v}",   "v_cmp_lt_f16 {to}, {vh}, {ch}"};
  std::string text = one_of(kCompares);
  text.replace(text.find("{to}"), 4, to);
  line(text);
}

std::optional<uint32_t> ProgramWriter::approximate_slot(uint32_t ulp, float absolute) {
  const auto slot = static_cast<uint32_t>(program_.approximations.size());
  if (slot >= kApproximateBytes / 4) return std::nullopt;
  program_.approximations.push_back({slot, ulp, absolute});
  return slot;
}

void write_place(ProgramWriter& w) {
  const uint32_t bits = w.wide() ? 6 : 5;
  w.line(fmt::format("v_lshrrev_b32 v2, {}, v0", bits));
  w.line("v_readfirstlane_b32 s33, v2");
  w.line(fmt::format("s_mul_i32 s17, s16, {}", w.launch().waves()));
  w.line("s_add_i32 s17, s17, s33");
  w.line(fmt::format("s_movk_i32 s32, {:#x}", kOwn));
  w.line("s_mov_{b} " + w.mask(34) + ", {exec}");
  if (!w.launch().starts_full()) w.line("s_mov_{b} {exec}, -1");
  w.line("v_mbcnt_lo_u32_b32 v3, -1, 0");
  if (w.wide()) w.line("v_mbcnt_hi_u32_b32 v3, -1, v3");
  w.line(fmt::format("v_lshl_or_b32 v1, s17, {}, v3", bits));
  w.line(fmt::format("v_lshl_or_b32 v2, s33, {}, v3", bits));
}

}  // namespace orrery::shader::differential
