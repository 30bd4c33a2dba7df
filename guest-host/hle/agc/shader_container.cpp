#include "guest-host/hle/agc/shader_container.hpp"

#include <fmt/format.h>
#include <array>
#include <cstddef>

namespace orrery::hle::agc {
namespace {

constexpr uint32_t kMagic = 0x34333231;
constexpr uint32_t kVersion = 0x18;
constexpr uint8_t kLastStage = 7;
constexpr uint64_t kCodeAlign = 256;

struct RegisterPair {
  uint32_t offset, value;
};

}  // namespace

int32_t create_shader(memory::GuestMemory& memory, Refusals& refusals, GuestAddress out, GuestAddress header,
                      GuestAddress code) {
  auto shader = memory.read_value<ShaderHeader>(header);
  if (!shader || shader->magic != kMagic) return kBadMagic;
  if (shader->version != kVersion) return kBadVersion;
  if (shader->stage > kLastStage || shader->sh_count < 2 || shader->sh_registers == 0) return kBadStage;
  if (code.value == 0 || code.value % kCodeAlign != 0) {
    refusals.refuse("sceAgcCreateShader", fmt::format("code at {:#x} is not 256-byte aligned", code.value));
    return kBadStage;
  }
  const auto absolute = [&](uint64_t& field, size_t offset) {
    if (field != 0) field += header.value + offset;
  };
  absolute(shader->user_data, offsetof(ShaderHeader, user_data));
  absolute(shader->cx_registers, offsetof(ShaderHeader, cx_registers));
  absolute(shader->sh_registers, offsetof(ShaderHeader, sh_registers));
  absolute(shader->specials, offsetof(ShaderHeader, specials));
  absolute(shader->inputs, offsetof(ShaderHeader, inputs));
  absolute(shader->outputs, offsetof(ShaderHeader, outputs));
  shader->code = code.value;

  const GuestAddress table{shader->sh_registers};
  auto program = memory.read_value<std::array<RegisterPair, 2>>(table);
  // The program's address registers come first and are neighbours.
  if (!program || (*program)[1].offset != (*program)[0].offset + 1) return kBadStage;
  (*program)[0].value = static_cast<uint32_t>(code.value >> 8);
  (*program)[1].value = static_cast<uint32_t>(code.value >> 40);

  const bool writable = memory.covers(out, Bytes{8}, memory::kCpuWrite) &&
                        memory.covers(header, Bytes{sizeof(ShaderHeader)}, memory::kCpuWrite) &&
                        memory.covers(table, Bytes{sizeof *program}, memory::kCpuWrite);
  if (!writable || !memory.write_value(header, *shader) || !memory.write_value(table, *program) ||
      !memory.write_value(out, header.value)) {
    refusals.refuse("sceAgcCreateShader", "the result, the header or its register table is not writable");
    return kBadMagic;
  }
  return 0;
}

}  // namespace orrery::hle::agc
