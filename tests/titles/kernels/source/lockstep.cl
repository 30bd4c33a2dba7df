// A group of one wave exchanges through LDS; the compiler drops the barriers, lockstep and the wait counters remain.
kernel GROUP_SIZE(32, 1, 1) void lockstep(global const uint* in, global uint* out) {
  local uint shared[32];
  uint l = local_x, i = group_x * 32 + l, v = in[i];
  for (uint step = 1; step < 32; step <<= 1) {
    shared[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = shared[l ^ step];
    barrier(CLK_LOCAL_MEM_FENCE);
    v = v * 5 + other;
  }
  out[i] = v;
}
