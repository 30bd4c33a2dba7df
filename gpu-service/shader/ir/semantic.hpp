// How an instruction's meaning is registered: one small function per instruction (or per few), one table over all
// opcodes.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <string>

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::ir {

// The reason why it cannot be translated, for the report.
using Outcome = std::expected<void, std::string>;
inline std::unexpected<std::string> refuse(std::string reason) { return std::unexpected(std::move(reason)); }

// Writes the instruction through the builder. Branches, s_endpgm and s_nop never get here.
using Semantic = Outcome (*)(Builder&, const Instruction&);
using SemanticTable = std::array<Semantic, static_cast<size_t>(Opcode::count)>;  // null: no semantics

// A family adds its lines: void add_vector_float(SemanticTable&). semantics/table.cpp calls them all.
inline void set(SemanticTable& table, Opcode opcode, Semantic semantic) {
  table[static_cast<size_t>(opcode)] = semantic;
}

}  // namespace orrery::shader::ir
