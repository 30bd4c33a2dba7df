// Lanes read each other without memory: a permutation inside 32 lanes, and the first lane's value.
kernel GROUP_SIZE(128, 1, 1) void wave_exchange(global const uint* in, global uint* out) {
  uint i = group_x * 128 + local_x, lane = local_x % 32;
  uint v = in[i];
  for (uint step = 1; step < 32; step <<= 1) v = v * 3 + wave_read(v, lane ^ step);
  uint first = wave_first(v);
  out[i] = v ^ wave_read(v, (lane * 5 + 3) & 31) ^ first * 7;
}
