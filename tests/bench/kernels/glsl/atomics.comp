#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_int64 : require
#include "twin.glsl"
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) buffer Unsigned { uint g[]; };
BUFFER(1, wide, uint64_t)
layout(set = 0, binding = 2, std430) coherent buffer Float { uint f[]; };
layout(set = 0, binding = 0, std430) buffer Signed { int s[]; };
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  atomicAdd(g[0], i);
  atomicAdd(g[1], 0u - 2u * i);
  atomicMin(g[2], i * 7 + 3);
  atomicMax(g[3], i * 5);
  atomicAnd(g[4], ~(1u << (i & 31)) | i << 8);
  atomicOr(g[5], 1u << (i & 31));
  atomicXor(g[6], i * 2654435761u);
  atomicAdd(g[7], 1);
  atomicAdd(g[8], 0xffffffffu);
  atomicMin(s[9], int(i) - 100);
  atomicMax(s[10], 100 - int(i));
  if (atomicCompSwap(g[16 + i], i, i + 1) == i) atomicExchange(g[16 + i], i * 3);
  atomicAdd(wide[0], uint64_t(i) << 33);
  uint old = f[0];
  while (true) {
    uint seen = atomicCompSwap(f[0], old, floatBitsToUint(uintBitsToFloat(old) + 1.0));
    if (seen == old) break;
    old = f[0];
  }
}
