// 256 bins of n bytes: LDS atomics, then one global atomic per used bin and group.
kernel GROUP_SIZE(256, 1, 1) void histogram(global const uchar* in, global uint* bins, uint n, uint groups) {
  local uint counts[256];
  uint l = local_x;
  counts[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = group_x * 256 + l; i < n; i += groups * 256) atomic_inc(&counts[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (counts[l]) atomic_add(&bins[l], counts[l]);
}
