// A fill by groups of one wave, the last of them partial: the mask of those that store is read whole, and the running lanes
// are counted by it.
kernel GROUP_SIZE(32, 1, 1) void guarded_fill(global uint* out, global ulong* masks, uint value) {
  uint i = group_x * 32 + local_x;
  ulong running = wave_ballot(true), mask = wave_ballot(i % value != 3);
  if (mask >> local_x & 1) out[i] = (uint)popcount(running) << 24 | (uint)popcount(mask) << 16 | (i & 0xffff);
  if (local_x == 0) masks[group_x] = mask;
}
