// Which instructions of the opcode table the interpreter has semantics for; the rest are families named here.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <set>

#include "gpu-service/shader/decode/table.hpp"
#include "gpu-service/shader/interpret/interpreter.hpp"

namespace orrery::shader::testing {
namespace {

struct Family {
  const char* reason;
  bool (*holds)(std::string_view name);
};
bool starts(std::string_view name, std::string_view part) { return name.starts_with(part); }

constexpr Family kRefused[] = {
    {"graphics only", [](auto name) { return name == "exp" || starts(name, "v_interp_"); }},
    {"ray tracing", [](auto name) { return starts(name, "image_bvh"); }},
    {"level of detail from derivatives", [](auto name) { return name == "image_get_lod"; }},
    {"multisampled images", [](auto name) { return name == "image_msaa_load"; }},
    {"gather of a row", [](auto name) { return name == "image_gather4h"; }},
    {"global wave sync and ordered counts",
     [](auto name) { return starts(name, "ds_gws_") || name == "ds_ordered_count"; }},
    {"exchange by condition", [](auto name) { return name == "ds_condxchg32_rtn_b64"; }},
    {"messages, traps and halts",
     [](auto name) {
       return starts(name, "s_sendmsg") || name == "s_trap" || name == "s_sethalt" || name == "s_setkill" ||
              name == "s_rfe_b64";
     }},
    {"end marks", [](auto name) { return name == "s_code_end" || name == "s_endpgm_ordered_ps_done"; }},
    {"subvector loops", [](auto name) { return starts(name, "s_subvector_"); }},
};

TEST(InterpreterCoverage, every_opcode_has_semantics_or_a_named_reason) {
  std::set<Opcode> decoded, supported;
  for (const Target target : {Target::gfx1013, Target::gfx1030}) {
    for (int format = 0; format <= static_cast<int>(Format::exp); ++format) {
      for (uint32_t number = 0; number < 1024; ++number) {
        const table::Entry* entry = table::find(static_cast<Format>(format), number, target);
        if (entry == nullptr) {
          continue;
        }
        Instruction instruction;
        instruction.opcode = entry->opcode;
        instruction.format = static_cast<Format>(format);
        decoded.insert(entry->opcode);
        if (interpret::supports(instruction)) {
          supported.insert(entry->opcode);
        }
      }
    }
  }
  std::map<std::string, size_t> refused;
  for (const Opcode opcode : decoded) {
    if (supported.contains(opcode)) {
      continue;
    }
    const char* reason = nullptr;
    for (const Family& family : kRefused) {
      if (family.holds(mnemonic(opcode))) {
        reason = family.reason;
        break;
      }
    }
    EXPECT_NE(reason, nullptr) << mnemonic(opcode) << " has no semantics and no reason";
    ++refused[reason != nullptr ? reason : "?"];
  }
  std::cout << fmt::format("{} opcodes decoded, {} with semantics\n", decoded.size(), supported.size());
  for (const auto& [reason, count] : refused) {
    std::cout << fmt::format("  {:4} refused: {}\n", count, reason);
  }
}

}  // namespace
}  // namespace orrery::shader::testing
