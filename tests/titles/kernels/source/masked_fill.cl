// A guarded fill of a few hundred elements by groups of one wave (two in wave32) that reads a lane mask whole.
kernel GROUP_SIZE(64, 1, 1) void masked_fill(global const uint* in, global uint* out, global ulong* masks, uint n) {
  uint i = group_x * 64 + local_x;
  bool chosen = i < n && (in[i & 1023] & 3) != 0;
  ulong mask = wave_ballot(chosen);
  if (mask != 0 && chosen) out[i] = (uint)popcount(mask) << 16 | i;
  if (local_x % wave_size() == 0) masks[i / wave_size()] = mask;
}
