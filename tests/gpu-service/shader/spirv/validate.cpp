#include "tests/gpu-service/shader/spirv/validate.hpp"

#include <spirv-tools/libspirv.hpp>

namespace orrery::shader::test {

std::string validate_only(std::span<const uint32_t> words) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
  std::string message;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t& position, const char* text) {
    message += "word " + std::to_string(position.index) + ": " + text + "\n";
  });
  if (tools.Validate(words.data(), words.size())) return {};
  return message.empty() ? "invalid without a message" : message;
}

std::string validate(std::span<const uint32_t> words) {
  const std::string message = validate_only(words);
  return message.empty() ? message : message + disassemble(words);
}

std::string disassemble(std::span<const uint32_t> words) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
  std::string text;
  tools.Disassemble(words.data(), words.size(), &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER);
  return text;
}

}  // namespace orrery::shader::test
