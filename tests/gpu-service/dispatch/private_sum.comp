// Private memory: each thread writes user word 4 dwords of its own, reads them back and stores their sum at user address 2.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "module_abi.glsl"
void main() {
  uint dwords = push.user_data[4];
  uint group = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
  for (uint slot = 0u; slot < kLanes; ++slot) {
    uint lane = slot * SUBGROUP + gl_SubgroupInvocationID, thread = thread_of(slot);
    uint64_t own = push.scratch + (uint64_t(group) * dwords * 32ul + lane) * 4ul;
    for (uint i = 0u; i < dwords; i += 97u) Word(own + uint64_t(i) * 128ul).value = thread * 3u + i;
  }
  for (uint slot = 0u; slot < kLanes; ++slot) {
    uint lane = slot * SUBGROUP + gl_SubgroupInvocationID, thread = thread_of(slot), sum = 0u;
    uint64_t own = push.scratch + (uint64_t(group) * dwords * 32ul + lane) * 4ul;
    for (uint i = 0u; i < dwords; i += 97u) sum += Word(own + uint64_t(i) * 128ul).value;
    store(0x20u, user_address(2u) + 4ul * thread, sum);
  }
}
