#pragma OPENCL EXTENSION cl_khr_fp16 : enable
// Packed half precision and small integers.
kernel GROUP_SIZE(64, 1, 1) void fp16(global const half2* a, global const char4* b, global half2* real, global int* whole) {
  uint i = group_x * 64 + local_x;
  half2 x = a[i];
  half2 y = x * x + (half2)(1.0h, 2.0h);
  real[i] = fma(x, y, max(x, y));
  char4 q = b[i];
  whole[i] = (int)q.x * (int)q.y + (int)q.z + (int)abs_diff((int)q.w, 3) + sub_sat((short)q.x, (short)q.y) + (int)popcount(i) +
             upsample((short)q.x, (ushort)q.y);
}
