#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, a, f16vec2)
INPUT(1, b, i8vec4)
BUFFER(2, real, f16vec2)
BUFFER(3, whole, int)
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  f16vec2 x = a[i];
  EXACT f16vec2 y = x * x + f16vec2(1.0hf, 2.0hf);
  EXACT f16vec2 r = fma(x, y, max(x, y));
  real[i] = r;
  ivec4 q = ivec4(b[i]);
  whole[i] = q.x * q.y + q.z + abs(q.w - 3) + clamp(q.x - q.y, -32768, 32767) + bitCount(i) +
             int(uint(q.x & 0xffff) << 16 | uint(q.y & 0xffff));
}
