#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
#include "remainder.glsl"
// The group has no more lanes than a wave, in both widths.
#undef WAVE
#define WAVE 32u
#define GROUP 32
#include "wave.glsl"
layout(local_size_x = GROUP) in;
BUFFER(0, result, uint)
BUFFER(1, masks, uint64_t)
uint count(uint64_t mask) { return uint(bitCount(unpackUint2x32(mask).x) + bitCount(unpackUint2x32(mask).y)); }
void main() {
  uint i = GROUP_X * 32 + LOCAL, value = value_u(0);
  bool runs = i < push.threads;
  uint64_t running = wave_ballot(runs), mask = wave_ballot(runs && remainder(i, value) != 3);
  if ((mask >> LOCAL & 1ul) != 0ul) result[i] = count(running) << 24 | count(mask) << 16 | i & 0xffff;
  if (LOCAL == 0) masks[GROUP_X] = mask;
}
