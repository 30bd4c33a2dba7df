#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
#include "expansions.glsl"
layout(local_size_x = 128) in;
INPUT(0, position, vec4)
BUFFER(1, velocity, vec4)
BUFFER(2, moved, vec4)
shared vec4 staged[128];
#ifdef NATIVE
float inverse_root(float x) { return inversesqrt(x); }
#else
float inverse_root(float x) { return near_reciprocal(root(x)); }  // as LLVM expands native_rsqrt
#endif
void main() {
  uint l = LOCAL, i = GROUP_X * 128 + l, n = value_u(0);
  float dt = value_f(1), softening = value_f(2);
  vec4 own = position[i];
  EXACT float ax = 0, ay = 0, az = 0;
  for (uint t = 0; t < n; t += 128) {
    staged[l] = position[t + l];
    barrier();
    for (uint j = 0; j < 128; j++) {
      vec4 other = staged[j];
      EXACT float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      EXACT float inverse = inverse_root(dx * dx + dy * dy + dz * dz + softening);
      EXACT float scale = other.w * inverse * inverse * inverse;
      ax += dx * scale;
      ay += dy * scale;
      az += dz * scale;
    }
    barrier();
  }
  EXACT vec4 v = velocity[i];
  v.x += ax * dt;
  v.y += ay * dt;
  v.z += az * dt;
  velocity[i] = v;
  EXACT vec4 to = vec4(own.x + v.x * dt, own.y + v.y * dt, own.z + v.z * dt, own.w);
  moved[i] = to;
}
