// Sum of n words: every work item sums a stride, a group sums in LDS, one atomic per group.
kernel GROUP_SIZE(256, 1, 1) void reduction(global const uint* in, global uint* out, uint n, uint groups) {
  local uint partial[256];
  uint l = local_x, sum = 0;
  for (uint i = group_x * 256 + l; i < n; i += groups * 256) sum += in[i];
  partial[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint d = 128; d > 0; d >>= 1) {
    if (l < d) partial[l] += partial[l + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) atomic_add(out, partial[0]);
}
