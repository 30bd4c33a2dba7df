// Bound: word i of buffer 1 becomes word i of buffer 0 plus user word 8, where both have it.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "module_abi.glsl"
layout(set = 0, binding = 0) readonly buffer In {
  uint words[];
} from;
layout(set = 0, binding = 1) buffer Out {
  uint words[];
} to;
void main() {
  uvec2 in_info = BoundInfos(push.bound_info).infos[0], out_info = BoundInfos(push.bound_info).infos[1];
  for (uint slot = 0u; slot < kLanes; ++slot) {
    uint thread = thread_of(slot);
    if (!runs(thread)) continue;
    uint value = thread * 4u + 4u <= in_info.y ? from.words[in_info.x / 4u + thread] : 0u;
    if (thread * 4u + 4u <= out_info.y) to.words[out_info.x / 4u + thread] = value + push.user_data[8];
  }
}
