#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
// 64-bit sums, minima and marks in LDS, read back as halves too. What is kept does not depend on the order of threads.
kernel GROUP_SIZE(256, 1, 1) void wide_local(global const uint* in, global ulong* out, global uint* halves, uint n) {
  local ulong sums[64], least[64], marks[64];
  uint l = local_x, i = group_x * 256 + l;
  if (l < 64) {
    sums[l] = l;
    least[l] = ~0ul;
    marks[l] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    uint bin = in[i] & 63;
    ulong v = (ulong)in[i] << 24 ^ i;
    atom_add(&sums[bin], v);
    atom_min(&least[bin], v);
    atomic_or((local uint*)&marks[bin] + (l & 1), 1u << (l >> 1) % 28);
    atom_xor(&marks[bin], (ulong)(l >> 6) << 62);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 64) {
    out[group_x * 128 + l] = sums[l] + atom_cmpxchg(&least[63 - l], ~0ul, 5ul);
    out[group_x * 128 + 64 + l] = marks[l];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 128) halves[group_x * 128 + l] = ((local uint*)least)[l];
}
