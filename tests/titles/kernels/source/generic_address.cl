// Generic pointers: one flat access may mean LDS, memory or scratch.
kernel GROUP_SIZE(64, 1, 1) void generic_address(global float* g, global float* out, uint k, uint n) {
  local float shared[64];
  uint l = local_x, i = group_x * 64 + l;
  shared[l] = g[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float own[4] = {1, 2, 3, g[i]};
  float* p;
  if ((l ^ k) & 1)
    p = &shared[l];
  else if (l & 2)
    p = (float*)&g[i];
  else
    p = &own[k & 3];
  out[i] = *p;
  *p = 2.0f;
  out[i + n] = own[l & 3] + shared[l];
}
