// Blocks of 12,800 words in 54 KiB of LDS: words are counted by their high bits, then each is read by another thread.
kernel GROUP_SIZE(256, 1, 1) void large_local(global const uint* in, global uint* out, global uint* bins, uint n) {
  local uint words[12800], counts[1024];
  uint l = local_x, block = group_x * 12800;
  for (uint i = l; i < 1024; i += 256) counts[i] = 0;
  for (uint i = l; i < 12800; i += 256) words[i] = block + i < n ? in[block + i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = l; i < 12800; i += 256) atomic_inc(&counts[words[i] >> 22]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = l; i < 12800; i += 256) {
    uint other = words[(i * 7919 + 13) % 12800];
    if (block + i < n) out[block + i] = other ^ counts[other >> 22];
  }
  for (uint i = l; i < 1024; i += 256) {
    if (counts[i]) atomic_add(&bins[i], counts[i]);
  }
}
