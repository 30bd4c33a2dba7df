#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, op, uint)
BUFFER(1, v, float)
float power_sum(float x, uint k) {
  EXACT float r = x;
  for (uint i = 0; i < k; i++) r = r * x + float(i);
  return r;
}
void main() {
  uint i = GROUP_X * 64 + LOCAL, n = value_u(0);
  EXACT float a = v[i];
  for (uint pc = 0; pc < n; pc++) switch (op[pc]) {
      case 0: a += 1; break;
      case 1: a *= 2; break;
      case 2: a -= float(i + pc); break;
      case 3: a = power_sum(a, pc & 3); break;
      case 4: a = abs(a); break;
      case 5: a = -a; break;
      case 6: a = a * a; break;
      case 7: pc += abs(a) < 65536 ? uint(abs(a)) & 3 : 0; break;
      case 8: v[i] = a; return;
      default: a = 0;
    }
  v[i] = a;
}
