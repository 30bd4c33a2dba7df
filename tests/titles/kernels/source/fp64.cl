#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// 64-bit floating point and integer arithmetic.
kernel GROUP_SIZE(64, 1, 1) void fp64(global const double* a, global const long* b, global double* real, global long* whole) {
  uint i = group_x * 64 + local_x;
  double x = a[i];
  long y = b[i];
  real[i] = sqrt(x) * x / 3.0 + (double)y + fma(x, x, floor(x));
  whole[i] = y / 7 + y * (long)i + (long)x + (long)mul_hi((ulong)y, (ulong)i) + popcount(y) + clz(y);
}
