#include "tests/gpu-service/shader/differential/program_flow.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

namespace orrery::shader::differential {
namespace {

constexpr uint32_t kDeepest = 4;

}  // namespace

void ProgramFlow::simple() {
  Family family = family_;
  if (family == Family::mixed || family == Family::flow || w_.chance(5)) {
    static constexpr Family kAny[] = {Family::integer, Family::integer, Family::floats, Family::scalar,
                                      Family::masks,   Family::lanes,   Family::lds,    Family::memory};
    family = w_.one_of(kAny);
    if (family == Family::lds && w_.launch().lds_bytes == 0) family = Family::masks;
    // Accesses take the driver longest.
    if (family == Family::memory && family_ == Family::flow) family = Family::integer;
  }
  switch (family) {
    case Family::floats:
      return w_.chance(12) ? write_approximation(w_) : write_float_statement(w_);
    case Family::scalar:
      return write_scalar_statement(w_);
    case Family::masks:
      return write_mask_statement(w_);
    case Family::lanes:
      return write_lane_statement(w_);
    case Family::lds:
      return write_lds_statement(w_);
    case Family::memory:
      return write_memory_statement(w_);
    default:
      return write_integer_statement(w_);
  }
}

uint32_t ProgramFlow::part_of(uint32_t& budget) {
  const uint32_t part = std::min(budget, 1 + w_.below(std::max(1u, budget / 2)));
  budget -= part;
  return part;
}

void ProgramFlow::body(uint32_t& budget, uint32_t depth, bool together) {
  statements(part_of(budget), depth + 1, together);
}

void ProgramFlow::statements(uint32_t count, uint32_t depth, bool together) {
  while (count > 0) {
    --count;
    const bool flow = family_ == Family::flow || family_ == Family::mixed || family_ == Family::masks;
    if (depth < kDeepest && count > 1 && w_.chance(flow ? 3 : 10)) {
      nested(count, depth, together);
    } else if (!loops_.empty() && w_.chance(5)) {
      leave_loop();
    } else if (together && w_.launch().lds_bytes != 0 && w_.chance(6)) {
      write_group_exchange(w_);
    } else {
      simple();
    }
  }
}

void ProgramFlow::nested(uint32_t& budget, uint32_t depth, bool together) {
  switch (w_.below(10)) {
    case 0:
    case 1:
    case 2:
      return divergent_if(budget, depth);
    case 3:
      return uniform_if(budget, depth);
    case 4:
      return counted_loop(budget, depth, together);
    case 5:
    case 6:
      return lane_loop(budget, depth);
    case 7:
      return irreducible(budget, depth);
    case 8:
      return switched(budget, depth);
    default:
      return call();
  }
}

// Some lanes, perhaps the others too; a branch around where there are none, or not.
void ProgramFlow::divergent_if(uint32_t& budget, uint32_t depth) {
  const uint32_t frame = w_.new_unit();
  const std::string saved = w_.saved_mask(depth), behind = w_.new_label(), other = w_.new_label();
  const bool has_else = w_.chance(2), around = !w_.chance(4);
  {
    const UnitScope scope(w_, frame);
    const std::string condition = w_.chance(2) ? (w_.wide() ? "vcc" : "vcc_lo") : w_.random_mask();
    if (!w_.chance(3)) w_.compare_lanes(condition);
    w_.line(fmt::format("s_and_saveexec_{{b}} {}, {}", saved, condition));
    if (has_else) w_.line(fmt::format("s_xor_{{b}} {}, {{exec}}, {}", saved, saved));
    if (around) w_.line("s_cbranch_execz " + (has_else ? other : behind));
  }
  body(budget, depth, false);
  if (has_else) {
    const UnitScope scope(w_, frame);
    w_.label(other);
    if (w_.chance(2)) {
      w_.line(fmt::format("s_or_saveexec_{{b}} {}, {}", saved, saved));
      w_.line(fmt::format("s_xor_{{b}} {{exec}}, {{exec}}, {}", saved));
    } else {
      w_.line("s_mov_{b} " + w_.mask(86) + ", {exec}");
      w_.line("s_mov_{b} {exec}, " + saved);
      w_.line(fmt::format("s_or_{{b}} {}, {}, {}", saved, saved, w_.mask(86)));
    }
    if (around) w_.line("s_cbranch_execz " + behind);
  }
  if (has_else && budget > 0) body(budget, depth, false);
  const UnitScope scope(w_, frame);
  w_.label(behind);
  w_.line("s_or_{b} {exec}, {exec}, " + saved);
}

void ProgramFlow::uniform_if(uint32_t& budget, uint32_t depth) {
  const uint32_t frame = w_.new_unit();
  const std::string behind = w_.new_label(), other = w_.new_label();
  const bool has_else = w_.chance(2);
  {
    const UnitScope scope(w_, frame);
    if (w_.chance(2)) {
      w_.random_condition();
      w_.line((w_.chance(2) ? "s_cbranch_scc0 " : "s_cbranch_scc1 ") + other);
    } else {
      w_.compare_lanes(w_.wide() ? "vcc" : "vcc_lo");
      w_.line((w_.chance(2) ? "s_cbranch_vccz " : "s_cbranch_vccnz ") + other);
    }
  }
  body(budget, depth, false);
  if (has_else) {
    const UnitScope scope(w_, frame);
    w_.line("s_branch " + behind);
  }
  {
    const UnitScope scope(w_, frame);
    w_.label(other);
  }
  if (has_else && budget > 0) body(budget, depth, false);
  const UnitScope scope(w_, frame);
  w_.label(behind);
}

// All lanes together, two to four times, tested at the bottom or at the top.
void ProgramFlow::counted_loop(uint32_t& budget, uint32_t depth, bool together) {
  const uint32_t frame = w_.new_unit(), rounds = 2 + w_.below(3);
  const std::string counter = fmt::format("s{}", 50 + depth), top = w_.new_label(), behind = w_.new_label(),
                    saved = w_.saved_mask(depth);
  const bool at_top = w_.chance(2);
  {
    const UnitScope scope(w_, frame);
    w_.line(fmt::format("s_movk_i32 {}, {}", counter, rounds));
    w_.line(fmt::format("s_mov_{{b}} {}, {{exec}}", saved));
    w_.label(top);
    if (at_top) {
      w_.line(fmt::format("s_cmp_eq_u32 {}, 0", counter));
      w_.line("s_cbranch_scc1 " + behind);
    }
    w_.line(fmt::format("s_sub_i32 {}, {}, 1", counter, counter));
  }
  // Waves that leave early would miss a barrier.
  const std::vector<Loop> outer = std::exchange(loops_, {});
  if (!together) loops_.push_back({behind, false, {}});
  body(budget, depth, together);
  loops_ = outer;
  const UnitScope scope(w_, frame);
  if (at_top) {
    w_.line("s_branch " + top);
  } else {
    w_.line(fmt::format("s_cmp_lg_u32 {}, 0", counter));
    w_.line("s_cbranch_scc1 " + top);
  }
  w_.label(behind);
  w_.line("s_mov_{b} {exec}, " + saved);
}

// Each lane its own number of times, tested at the bottom by exec.
void ProgramFlow::lane_loop(uint32_t& budget, uint32_t depth) {
  const uint32_t frame = w_.new_unit();
  const std::string saved = w_.saved_mask(depth), top = w_.new_label(), behind = w_.new_label(),
                    counter = fmt::format("v{}", 40 + depth);
  const bool collects = w_.chance(2);
  {
    const UnitScope scope(w_, frame);
    w_.line(fmt::format("v_and_b32 {}, 3, {{v}}", counter));
    w_.line(fmt::format("s_mov_{{b}} {}, {}", saved, collects ? "0" : w_.wide() ? "exec" : "exec_lo"));
    w_.label(top);
  }
  const std::vector<Loop> outer = std::exchange(loops_, {});
  loops_.push_back({behind, true, collects ? saved : std::string()});
  body(budget, depth, false);
  loops_ = outer;
  const UnitScope scope(w_, frame);
  w_.line(fmt::format("v_sub_nc_u32 {}, {}, 1", counter, counter));
  if (collects) {
    // Lanes that are done are gathered, as LLVM does.
    w_.line(fmt::format("v_cmp_gt_i32 {{vcc}}, 0, {}", counter));
    w_.line(fmt::format("s_or_{{b}} {}, {{vcc}}, {}", saved, saved));
    w_.line(fmt::format("s_andn2_{{b}} {{exec}}, {{exec}}, {}", saved));
  } else if (w_.chance(2)) {
    w_.line(fmt::format("v_cmp_le_i32 {{vcc}}, 0, {}", counter));
    w_.line("s_and_{b} {exec}, {exec}, {vcc}");
  } else {
    w_.line(fmt::format("v_cmpx_le_i32 0, {}", counter));
  }
  w_.line("s_cbranch_execnz " + top);
  w_.label(behind);
  w_.line(collects ? fmt::format("s_or_{{b}} {{exec}}, {{exec}}, {}", saved)
                   : fmt::format("s_mov_{{b}} {{exec}}, {}", saved));
}

// A loop with two entries.
void ProgramFlow::irreducible(uint32_t& budget, uint32_t depth) {
  const uint32_t frame = w_.new_unit();
  const std::string counter = fmt::format("s{}", 50 + depth), top = w_.new_label(), middle = w_.new_label(),
                    behind = w_.new_label(), saved = w_.saved_mask(depth);
  {
    const UnitScope scope(w_, frame);
    w_.line(fmt::format("s_movk_i32 {}, 0", counter));
    w_.line(fmt::format("s_mov_{{b}} {}, {{exec}}", saved));
    w_.random_condition();
    w_.line("s_cbranch_scc1 " + middle);
    w_.label(top);
  }
  const std::vector<Loop> outer = std::exchange(loops_, {});
  loops_.push_back({behind, false, {}});
  body(budget, depth, false);
  {
    const UnitScope scope(w_, frame);
    w_.label(middle);
  }
  if (budget > 0) body(budget, depth, false);
  loops_ = outer;
  const UnitScope scope(w_, frame);
  w_.line(fmt::format("s_add_i32 {}, {}, 1", counter, counter));
  w_.line(fmt::format("s_cmp_lt_u32 {}, {}", counter, 2 + w_.below(2)));
  w_.line("s_cbranch_scc1 " + top);
  w_.label(behind);
  w_.line("s_mov_{b} {exec}, " + saved);
}

void ProgramFlow::jump_to(const std::string& target) {
  const std::string here = w_.new_label();
  w_.line("s_getpc_b64 s[82:83]");
  w_.label(here);
  w_.line(fmt::format("s_add_u32 s82, s82, {}-{}", target, here));
  w_.line("s_addc_u32 s83, s83, 0");
}

// One of several ways by a number; cases may fall into the next, and are reached by branches or computed jumps.
void ProgramFlow::switched(uint32_t& budget, uint32_t depth) {
  const uint32_t frame = w_.new_unit(), cases = 2 + w_.below(3);
  const std::string behind = w_.new_label();
  std::vector<std::string> labels;
  {
    const UnitScope scope(w_, frame);
    w_.line("s_and_b32 s81, 3, {s}");
    for (uint32_t n = 0; n < cases; ++n) {
      labels.push_back(w_.new_label());
      w_.line(fmt::format("s_cmp_eq_u32 s81, {}", n));
      if (w_.chance(3)) {
        const std::string next = w_.new_label();
        w_.line("s_cbranch_scc0 " + next);
        jump_to(labels.back());
        w_.line("s_setpc_b64 s[82:83]");
        w_.label(next);
      } else {
        w_.line("s_cbranch_scc1 " + labels.back());
      }
    }
    w_.line("s_branch " + behind);
  }
  for (uint32_t n = 0; n < cases; ++n) {
    {
      const UnitScope scope(w_, frame);
      w_.label(labels[n]);
    }
    if (budget > 0) body(budget, depth, false);
    if (!w_.chance(3)) {
      const UnitScope scope(w_, frame);
      w_.line("s_branch " + behind);
    }
  }
  const UnitScope scope(w_, frame);
  w_.label(behind);
}

void ProgramFlow::call() {
  const UnitScope scope(w_, w_.new_unit());
  if (called_.empty() || w_.chance(2)) called_.push_back(w_.new_label());
  jump_to(called_[w_.below(static_cast<uint32_t>(called_.size()))]);
  w_.line("s_swappc_b64 s[92:93], s[82:83]");
}

void ProgramFlow::routines() {
  const std::vector<std::string> called = std::exchange(called_, {});
  loops_.clear();
  for (const std::string& name : called) {
    {
      const UnitScope scope(w_, 0);
      w_.label(name);
    }
    for (uint32_t n = 0; n < 2; ++n) simple();
    const UnitScope scope(w_, 0);
    w_.line("s_setpc_b64 s[92:93]");
  }
}

// The innermost loop ends early: for all lanes, or for some.
void ProgramFlow::leave_loop() {
  const UnitScope scope(w_, w_.new_unit());
  const Loop& loop = loops_.back();
  if (!loop.by_lanes) {
    w_.random_condition();
    w_.line((w_.chance(2) ? "s_cbranch_scc0 " : "s_cbranch_scc1 ") + loop.behind);
    return;
  }
  const std::string those = w_.mask(86);
  w_.compare_lanes(those);
  if (!loop.collected.empty()) w_.line(fmt::format("s_or_{{b}} {}, {}, {}", loop.collected, loop.collected, those));
  w_.line(fmt::format("s_andn2_{{b}} {{exec}}, {{exec}}, {}", those));
  w_.line("s_cbranch_execz " + loop.behind);
}

}  // namespace orrery::shader::differential
