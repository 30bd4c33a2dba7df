// Exclusive prefix sum of blocks of 512 words in LDS (Blelloch); block sums go to `sums`.
kernel GROUP_SIZE(256, 1, 1) void scan(global const uint* in, global uint* out, global uint* sums, uint n) {
  local uint s[512];
  uint l = local_x, block = group_x * 512, offset = 1;
  s[2 * l] = block + 2 * l < n ? in[block + 2 * l] : 0;
  s[2 * l + 1] = block + 2 * l + 1 < n ? in[block + 2 * l + 1] : 0;
  for (uint d = 256; d > 0; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) {
      uint a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1;
      s[b] += s[a];
    }
    offset <<= 1;
  }
  if (l == 0) {
    sums[group_x] = s[511];
    s[511] = 0;
  }
  for (uint d = 1; d < 512; d <<= 1) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) {
      uint a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1, t = s[a];
      s[a] = s[b];
      s[b] += t;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (block + 2 * l < n) out[block + 2 * l] = s[2 * l];
  if (block + 2 * l + 1 < n) out[block + 2 * l + 1] = s[2 * l + 1];
}
