// Device-addressed: word i of user address 2 becomes word i of user address 0 plus one, for every thread.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "module_abi.glsl"
void main() {
  for (uint slot = 0u; slot < kLanes; ++slot) {
    uint thread = thread_of(slot);
    if (!runs(thread)) continue;
    uint value = load(0x10u, user_address(0u) + 4ul * thread);
    store(0x18u, user_address(2u) + 4ul * thread, value + 1u);
  }
}
