#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
BUFFER(0, particles, vec4)
INPUT(1, colours, uint)
BUFFER(2, result, float)
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  float dt = value_f(0);
  vec4 p = i < particles.length() ? particles[i] : vec4(0);
  vec4 c = i < colours.length() ? unpackUnorm4x8(colours[i]) : vec4(0);
  EXACT vec4 q = vec4(p.x + c.x * dt, p.y + c.y * dt, p.z + c.z * dt, p.w * c.w);
  if (i < particles.length()) particles[i] = q;
  EXACT float sum = q.x + q.y + q.z;
  if (i < result.length()) result[i] = sum;
}
