// A guarded copy by groups of several waves: each wave packs the elements it keeps, by the mask's count below the lane.
kernel GROUP_SIZE(256, 1, 1) void masked_copy(global const uint* in, global uint* out, global uint* counts, uint n) {
  uint i = group_x * 256 + local_x, wave = i / wave_size();
  uint value = i < n ? in[i] : 0;
  ulong kept = wave_ballot((value & 1) != 0);
  if (value & 1) out[wave * wave_size() + lanes_below(kept)] = value;
  // A scalar loop over the mask's bits.
  uint rounds = 0;
  for (ulong rest = kept; rest != 0; rest &= rest - 1) rounds++;
  if (local_x % wave_size() == 0) counts[wave] = rounds;
}
