#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
#define GROUP 256
#include "wave.glsl"
layout(local_size_x = GROUP) in;
INPUT(0, source, uint)
BUFFER(1, result, uint)
BUFFER(2, counts, uint)
void main() {
  uint i = GROUP_X * 256 + LOCAL, wave = i / WAVE, n = value_u(0);
  uint value = i < n ? source[i] : 0;
  uint64_t kept = wave_ballot((value & 1) != 0);
  if ((value & 1) != 0) result[wave * WAVE + lanes_below(kept)] = value;
  uint rounds = 0;
  for (uint64_t rest = kept; rest != 0ul; rest &= rest - 1ul) rounds++;
  if (LOCAL % WAVE == 0) counts[wave] = rounds;
}
