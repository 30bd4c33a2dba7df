// Which instructions of the opcode table have a line in the translator's table (some of which refuse by name, see the
// README of semantics); the rest are control flow or families named here.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "gpu-service/shader/decode/table.hpp"
#include "gpu-service/shader/semantics/table.hpp"

namespace orrery::shader::semantics::test {
namespace {

constexpr Opcode kControlFlow[] = {
    Opcode::s_branch,
    Opcode::s_cbranch_scc0,
    Opcode::s_cbranch_scc1,
    Opcode::s_cbranch_vccz,
    Opcode::s_cbranch_vccnz,
    Opcode::s_cbranch_execz,
    Opcode::s_cbranch_execnz,
    Opcode::s_endpgm,
    Opcode::s_endpgm_saved,
    Opcode::s_setpc_b64,
    Opcode::s_nop,
    Opcode::s_code_end,
    Opcode::s_cbranch_cdbgsys,
    Opcode::s_cbranch_cdbguser,
    Opcode::s_cbranch_cdbgsys_or_user,
    Opcode::s_cbranch_cdbgsys_and_user,
};

struct Family {
  const char* reason;
  bool (*holds)(std::string_view name);
};
bool starts(std::string_view name, std::string_view part) { return name.starts_with(part); }
constexpr Family kRefused[] = {
    {"halves of attributes", [](auto name) { return starts(name, "v_interp_"); }},
    {"ray tracing", [](auto name) { return starts(name, "image_bvh"); }},
    {"level of detail from derivatives", [](auto name) { return name == "image_get_lod"; }},
    {"multisampled images", [](auto name) { return name == "image_msaa_load"; }},
    {"gather of a row", [](auto name) { return name == "image_gather4h"; }},
    {"exchange by condition", [](auto name) { return name == "ds_condxchg32_rtn_b64"; }},
    {"end marks", [](auto name) { return name == "s_endpgm_ordered_ps_done"; }},
    {"clocks", [](auto name) { return name == "s_memtime" || name == "s_memrealtime"; }},
};

std::set<Opcode> decoded() {
  std::set<Opcode> all;
  for (const Target target : {Target::gfx1013, Target::gfx1030}) {
    for (int format = 0; format <= static_cast<int>(Format::exp); ++format) {
      for (uint32_t number = 0; number < 1024; ++number) {
        const table::Entry* entry = table::find(static_cast<Format>(format), number, target);
        if (entry != nullptr) all.insert(entry->opcode);
      }
    }
  }
  return all;
}

TEST(Table, every_opcode_has_semantics_or_a_named_reason) {
  const std::set<Opcode> all = decoded();
  size_t with_semantics = 0, control_flow = 0;
  std::map<std::string, size_t> refused;
  for (const Opcode opcode : all) {
    if (semantic_table()[static_cast<size_t>(opcode)] != nullptr) {
      ++with_semantics;
      continue;
    }
    if (std::ranges::find(kControlFlow, opcode) != std::end(kControlFlow)) {
      ++control_flow;
      continue;
    }
    const auto family = std::ranges::find_if(kRefused, [&](const Family& f) { return f.holds(mnemonic(opcode)); });
    EXPECT_NE(family, std::end(kRefused)) << mnemonic(opcode) << " has no semantics and no reason";
    ++refused[family != std::end(kRefused) ? family->reason : "?"];
  }
  std::cout << fmt::format("{} opcodes decoded, {} with a line of semantics, {} of control flow\n", all.size(),
                           with_semantics, control_flow);
  for (const auto& [reason, count] : refused) std::cout << fmt::format("  {:4} refused: {}\n", count, reason);
}

TEST(Table, control_flow_has_no_semantics) {
  for (const Opcode opcode : kControlFlow) {
    EXPECT_EQ(semantic_table()[static_cast<size_t>(opcode)], nullptr) << mnemonic(opcode);
  }
  EXPECT_EQ(semantic_table()[static_cast<size_t>(Opcode::invalid)], nullptr);
}

}  // namespace
}  // namespace orrery::shader::semantics::test
