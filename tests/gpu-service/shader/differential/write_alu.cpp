// Statements that compute.
#include <fmt/format.h>

#include "tests/gpu-service/shader/differential/instruction_templates.hpp"
#include "tests/gpu-service/shader/differential/memory_map.hpp"
#include "tests/gpu-service/shader/differential/program_writer.hpp"

namespace orrery::shader::differential {
namespace {

void one_of_templates(ProgramWriter& w, Templates templates) {
  const UnitScope scope(w, w.new_unit());
  w.line(templates[w.below(static_cast<uint32_t>(templates.size()))]);
}

// A float's bits as an integer, with one NaN for all.
void float_to_integer(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  const std::string to = w.integer();
  switch (w.below(3)) {
    case 0: {
      const std::string from = w.single();
      w.line(fmt::format("v_cmp_u_f32 {}, {}, {}", w.mask(88), from, from));
      w.line(fmt::format("v_cndmask_b32 {}, {}, 0x7fc00000, {}", to, from, w.mask(88)));
      break;
    }
    case 1: {
      const std::string from = w.half();
      w.line(fmt::format("v_cmp_u_f16 {}, {}, {}", w.mask(88), from, from));
      w.line(fmt::format("v_and_b32 {}, 0xffff, {}", to, from));
      w.line(fmt::format("v_cndmask_b32 {}, {}, 0x7e00, {}", to, to, w.mask(88)));
      break;
    }
    default:
      w.line(fmt::format("v_frexp_exp_i32_f32 {}, {}", to, w.single()));
      break;
  }
}

// A mask kept in lanes of a VGPR and fetched again, or its lanes counted.
void spill_mask(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  const uint32_t from = 36 + 2 * w.below(6), to = 36 + 2 * w.below(6), lane = w.below(w.launch().wave - 1);
  w.line(fmt::format("v_writelane_b32 v50, s{}, {}", from, lane));
  if (w.wide()) w.line(fmt::format("v_writelane_b32 v50, s{}, {}", from + 1, lane + 1));
  if (w.chance(2)) w.line("v_add_nc_u32 {d}, {i}, {v}");
  w.line(fmt::format("v_readlane_b32 s{}, v50, {}", to, lane));
  if (w.wide()) w.line(fmt::format("v_readlane_b32 s{}, v50, {}", to + 1, lane + 1));
}

// The lane's place among the lanes of a mask.
void count_below(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  const std::string to = w.integer();
  const uint32_t mask = 36 + 2 * w.below(6);
  w.line(fmt::format("v_mbcnt_lo_u32_b32 {}, s{}, {}", to, mask, w.chance(2) ? "0" : "{c}"));
  if (w.wide()) w.line(fmt::format("v_mbcnt_hi_u32_b32 {}, s{}, {}", to, mask + 1, to));
}

// Every lane in turn, as compilers do for values that are not uniform.
void lanes_in_turn(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  const std::string top = w.new_label(), value = w.integer(), sum = w.number();
  w.line(fmt::format("v_and_b32 v7, 3, {}", value));
  w.line("s_mov_{b} " + w.mask(86) + ", {exec}");
  w.label(top);
  w.line("v_readfirstlane_b32 s84, v7");
  w.line("v_cmp_eq_u32 {vcc}, s84, v7");
  w.line("s_and_saveexec_{b} " + w.mask(88) + ", {vcc}");
  w.line(fmt::format("v_add_nc_u32 {}, s84, {}", value, value));
  w.line("s_bcnt1_i32_{b} s85, {exec}");
  w.line(fmt::format("s_add_i32 {}, {}, s85", sum, sum));
  w.line("s_andn2_{b} {exec}, " + w.mask(88) + ", {exec}");
  w.line("s_cbranch_execnz " + top);
  w.line("s_mov_{b} {exec}, " + w.mask(86));
}

// Exec is changed for a few instructions, in every way there is.
void change_exec(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  static constexpr const char* kSaves[] = {"and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor", "andn1", "orn1"};
  w.line(fmt::format("s_{}_saveexec_{{b}} {}, {{m}}", w.one_of(kSaves), w.mask(86)));
  if (w.chance(3)) w.line("s_andn2_wrexec_{b} " + w.mask(88) + ", {m}");
  w.line("v_add_nc_u32 {d}, {i}, {v}");
  w.line(w.chance(2) ? "v_readfirstlane_b32 {sd}, {v}" : "v_mov_b32_dpp {d}, {v} {dpp}");
  w.line("s_mov_{b} {exec}, " + w.mask(86));
}

// Exec written by a comparison.
void compare_into_exec(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  w.line("s_mov_{b} " + w.mask(86) + ", {exec}");
  w.line(w.chance(2) ? "v_cmpx_lt_u32 {i}, {v}" : "v_cmpx_ge_f32 {f}, {vf}");
  w.line("v_xor_b32 {d}, {i}, {v}");
  w.line("v_mbcnt_lo_u32_b32 {d}, exec_lo, {c}");
  w.line("s_mov_{b} {exec}, " + w.mask(86));
}

}  // namespace

void write_integer_statement(ProgramWriter& w) { one_of_templates(w, integer_templates()); }

void write_float_statement(ProgramWriter& w) {
  if (w.chance(5)) return float_to_integer(w);
  one_of_templates(w, float_templates());
}

void write_scalar_statement(ProgramWriter& w) { one_of_templates(w, scalar_templates()); }

void write_mask_statement(ProgramWriter& w) {
  switch (w.below(12)) {
    case 0:
      return spill_mask(w);
    case 1:
      return count_below(w);
    case 2:
      return lanes_in_turn(w);
    case 3:
      return change_exec(w);
    case 4:
      return compare_into_exec(w);
    case 5:
    case 6:
    case 7: {
      const UnitScope scope(w, w.new_unit());
      return w.compare_lanes(w.chance(3) ? (w.wide() ? "vcc" : "vcc_lo") : w.random_mask());
    }
    default:
      return one_of_templates(w, mask_templates());
  }
}

void write_lane_statement(ProgramWriter& w) {
  if (w.chance(6)) return change_exec(w);
  one_of_templates(w, lane_templates());
}

void write_approximation(ProgramWriter& w) {
  const UnitScope scope(w, w.new_unit());
  struct Kind {
    const char* text;
    uint32_t ulp;
    float absolute = 0;
  };
  // The document's bound is 1 ulp for each, and both sides may use it; exp and log are the host's, whose bounds Vulkan
  // gives (log2: 2^-21 near 1).
  static constexpr Kind kKinds[] = {{"v_rcp_f32 v7, {f}", 2},
                                    {"v_rsq_f32 v7, {f}", 2},
                                    {"v_sqrt_f32 v7, {f}", 2},
                                    {"v_exp_f32 v7, {f}", 8},
                                    {"v_log_f32 v7, |{vf}|", 8, 0x1p-21f},
                                    {"v_rcp_iflag_f32 v7, {f}", 2}};
  const Kind kind = w.one_of(kKinds);
  const auto slot = w.approximate_slot(kind.ulp, kind.absolute);
  if (!slot) return;
  w.line(kind.text);
  w.line("v_lshlrev_b32 v6, 5, v1");
  w.line(fmt::format("v_add_nc_u32 v6, {:#x}, v6", kApproximate));
  w.line(fmt::format("buffer_store_dword v7, v6, s[8:11], 0 offen offset:{}", *slot * 4));
}

}  // namespace orrery::shader::differential
