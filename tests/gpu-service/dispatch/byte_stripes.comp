// Device-addressed: every second byte behind user address 0 becomes the thread's number (never 0), for every thread.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#include "module_abi.glsl"
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Byte {
  uint8_t value;
};
void main() {
  for (uint slot = 0u; slot < kLanes; ++slot) {
    uint thread = thread_of(slot);
    if (!runs(thread)) continue;
    uint64_t address = user_address(0u) + 2ul * thread;
    uint64_t at = device_address(address, true);
    if (at != 0ul) {
      Byte(at).value = uint8_t(thread % 255u + 1u);
    } else {
      escape(0x20u, address, true);
    }
  }
}
