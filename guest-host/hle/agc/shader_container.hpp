// The "1234" shader container and what sceAgcCreateShader does with it (checks measured on hardware, guest-abi.md 4.6).
#pragma once

#include "guest-host/hle/refusals.hpp"
#include "guest-host/memory/guest_memory.hpp"

namespace orrery::hle::agc {

inline constexpr int32_t kBadMagic = static_cast<int32_t>(0x8a6c0003);
inline constexpr int32_t kBadVersion = static_cast<int32_t>(0x8a6c0004);
inline constexpr int32_t kBadStage = static_cast<int32_t>(0x8a6c0005);

struct ShaderHeader {
  uint32_t magic;    // 0x34333231
  uint32_t version;  // 0x18
  // Relative to the field's own address in the file, absolute once created; 0 stays 0.
  uint64_t user_data, code, cx_registers, sh_registers, specials, inputs, outputs;
  uint32_t header_size, code_size;
  uint32_t embedded_constants;  // 16-byte units
  uint32_t target;
  uint32_t input_count;
  uint16_t scratch_dwords;  // per thread
  uint16_t output_count;
  uint16_t specials_size;
  uint8_t stage;  // 0 CS, 1 PS, 2 VS, 3 GS, 4 LS, 5 HS half, 6 ES, 7 HS
  uint8_t cx_count, sh_count;
  uint8_t padding[3];
};
static_assert(sizeof(ShaderHeader) == 0x60);

// Makes the header's pointers absolute, notes the code and puts its address into the first register pair of the sh
// table; writes the header's address to `out`. 0 or an error; nothing is changed on error.
int32_t create_shader(memory::GuestMemory& memory, Refusals& refusals, GuestAddress out, GuestAddress header,
                      GuestAddress code);

}  // namespace orrery::hle::agc
