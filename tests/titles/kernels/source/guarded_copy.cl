// A copy by groups of several waves, the last group partial: each wave packs what it keeps; a wave that keeps nothing
// branches over the store.
kernel GROUP_SIZE(128, 1, 1) void guarded_copy(global const uint* in, global uint* out, global uint* counts) {
  uint i = group_x * 128 + local_x, wave = i / wave_size(), value = in[i];
  ulong kept = wave_ballot((value & 7) < 2);
  if (kept != 0) {
    if (kept >> local_x % wave_size() & 1) out[wave * wave_size() + lanes_below(kept)] = value;
    ulong rest = wave_ballot((value & 7) >= 2);
    if (local_x % wave_size() == 0) counts[wave] = (uint)popcount(kept) | (uint)popcount(rest) << 8 | (uint)clz((long)kept) << 16;
  }
}
