// One invocation of each group runs until the word at user address 0 is not 0; says so when user word 2 is a number of rounds and it took as many.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "module_abi.glsl"
void main() {
  if (gl_SubgroupInvocationID != 0u) return;
  uint64_t at = device_address(user_address(0u), true);
  uint rounds = 0u;
  while (at != 0ul && atomicOr(Word(at).value, 0u) == 0u) {
    ++rounds;
    if (push.user_data[2] != 0u && rounds == push.user_data[2]) {
      EscapeReport(push.escapes).loops_cut = 1u;
      break;
    }
  }
}
