#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
layout(local_size_x = 64) in;
INPUT(0, source, float)
BUFFER(1, result, float)
#ifdef NATIVE
void main() {
  uint i = GROUP_X * 64 + LOCAL, to = i * 12;
  float x = source[i];
  result[to] = sin(x);
  result[to + 1] = cos(x);
  result[to + 2] = exp(x);
  result[to + 3] = log(abs(x) + 1);
  result[to + 4] = sqrt(x * x + 1);
  result[to + 5] = pow(abs(x), 1.7);
  result[to + 6] = atan(x, 2.0);
  result[to + 7] = tan(x);
  result[to + 8] = x - 3.0 * trunc(x / 3.0);
  result[to + 9] = sin(x);
  result[to + 10] = exp(x);
  result[to + 11] = inversesqrt(x * x + 2);
}
#else
#include "expansions.glsl"
#include "transc_tables.glsl"
void main() {
#include "transc_body.glsl"
}
#endif
