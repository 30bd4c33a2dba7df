// SPIR-V modules against SPIRV-Tools' validator.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace orrery::shader::test {

// Empty when the module is valid for Vulkan 1.3, otherwise what is wrong and the module's text.
std::string validate(std::span<const uint32_t> words);
// The same without the module's text.
std::string validate_only(std::span<const uint32_t> words);
std::string disassemble(std::span<const uint32_t> words);

}  // namespace orrery::shader::test
