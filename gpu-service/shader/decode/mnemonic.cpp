#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader {
namespace {

constexpr std::string_view kNames[] = {
    "invalid",
#define ORRERY_OPCODE(name) #name,
#include "gpu-service/shader/decode/opcode_names.inc"
#undef ORRERY_OPCODE
};
static_assert(std::size(kNames) == static_cast<size_t>(Opcode::count));

}  // namespace

std::string_view mnemonic(Opcode opcode) {
  const auto index = static_cast<size_t>(opcode);
  return index < std::size(kNames) ? kNames[index] : kNames[0];
}

}  // namespace orrery::shader
