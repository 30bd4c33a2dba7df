// A divergent loop with break, continue and return; 64-bit values.
kernel GROUP_SIZE(64, 1, 1) void collatz(global const uint* in, global uint* out, uint n) {
  uint i = group_x * 64 + local_x;
  if (i >= n) return;
  ulong v = in[i];
  uint count = 0;
  while (v != 1) {
    if (v & 1) {
      if (v % 3 == 0 && count > 100) break;
      v = 3 * v + 1;
    } else {
      v >>= 1;
      if (v == 7) {
        count += 3;
        continue;
      }
    }
    count++;
    if (count > 1000) return;
  }
  out[i] = count;
}
