// Waves of WAVE lanes on subgroups that may be narrower: then lanes exchange through shared memory. GROUP: lanes of a
// group, which are full waves in order.
shared uint wave_cells[GROUP];

uint64_t wave_ballot(bool condition) {
  uvec4 own = subgroupBallot(condition);
  if (gl_SubgroupSize >= WAVE) return packUint2x32(own.xy);
  if (subgroupElect()) wave_cells[gl_SubgroupID] = own.x;
  barrier();
  uint parts = WAVE / gl_SubgroupSize, first = gl_SubgroupID / parts * parts;
  uint64_t mask = 0ul;
  for (uint k = 0; k < parts; k++) mask |= uint64_t(wave_cells[first + k]) << (k * gl_SubgroupSize);
  barrier();
  return mask;
}
uint lanes_below(uint64_t mask) {
  uint lane = LOCAL % WAVE;
  uvec2 below = unpackUint2x32(mask & ((1ul << lane) - 1ul));
  return bitCount(below.x) + bitCount(below.y);
}
// The value of lane `source` among the `among` lanes around the own one.
uint wave_read(uint value, uint source, uint among) {
  if (gl_SubgroupSize >= among) return subgroupShuffle(value, gl_SubgroupInvocationID / among * among + source);
  wave_cells[LOCAL] = value;
  barrier();
  uint other = wave_cells[LOCAL / among * among + source];
  barrier();
  return other;
}
