// Where our decoder and LLVM 19 differ on purpose, each with its reason. Everything else must be equal.
#pragma once

#include <string>
#include <string_view>

namespace orrery::shader::testing {

// Ours is our text, or the reason of our refusal; empty LLVM text means that LLVM refuses. Empty result: not known.
std::string_view known_difference(const std::string& llvm, const std::string& ours, bool we_refuse);

}  // namespace orrery::shader::testing
