#include <algorithm>
#include <array>

#include "guest-host/hle/agc/libraries.hpp"
#include "guest-host/hle/agc/shader_container.hpp"

namespace orrery::hle::agc {
namespace {

constexpr auto kLibrary = "libSceAgc";
constexpr int32_t kWrongVersion = static_cast<int32_t>(0x8a6c0004);
// SPI_PS_INPUT_CNTL_0; one register per interpolant.
constexpr uint32_t kInputControl = 0x191;
constexpr uint32_t kInterpolants = 32;

// Versions of the interface that both start functions accept (measured: 8 and 12 to 14).
bool known_version(uint32_t version) { return version == 8 || (version >= 12 && version <= 14); }

}  // namespace

void add_shader_functions(Registry& registry, Builders& b) {
  const auto init = [](GuestAddress /*state*/, uint32_t version) { return known_version(version) ? 0 : kWrongVersion; };
  registry.add(kLibrary, "sceAgcInit", init);
  // The version gate whose name nobody knows.
  registry.add_nid(kLibrary, "23LRUSvYu1M", "23LRUSvYu1M (version gate)", init);

  registry.add(kLibrary, "sceAgcCreateShader",
               [&b](GuestAddress out, GuestAddress header, GuestAddress code, uint64_t /*flags*/) {
                 return create_shader(b.memory, b.refusals, out, header, code);
               });

  registry.add(kLibrary, "sceAgcCreateInterpolantMapping",
               [&b](GuestAddress registers, GuestAddress /*geometry*/, GuestAddress pixel) {
                 // Only the mapping of a pixel shader without input semantics is known (measured).
                 if (pixel.value != 0) {
                   const auto shader = b.memory.read_value<ShaderHeader>(pixel);
                   if (!shader || shader->input_count != 0) {
                     b.refusals.refuse("sceAgcCreateInterpolantMapping", "a pixel shader with input semantics");
                     return kBadStage;
                   }
                 }
                 std::array<uint64_t, kInterpolants> table;
                 for (uint32_t i = 0; i < kInterpolants; ++i) table[i] = uint64_t{i} << 32 | (kInputControl + i);
                 return b.memory.write_value(registers, table) ? 0 : kBadMagic;
               });
}

}  // namespace orrery::hle::agc
