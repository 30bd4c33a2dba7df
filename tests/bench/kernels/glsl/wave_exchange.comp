#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
#define GROUP 128
#include "wave.glsl"
layout(local_size_x = GROUP) in;
INPUT(0, source, uint)
BUFFER(1, result, uint)
void main() {
  uint i = GROUP_X * 128 + LOCAL, lane = LOCAL % 32, v = source[i];
  for (uint step = 1; step < 32; step <<= 1) v = v * 3 + wave_read(v, lane ^ step, 32);
  uint first = wave_read(v, 0, WAVE);
  result[i] = v ^ wave_read(v, (lane * 5 + 3) & 31, 32) ^ first * 7;
}
