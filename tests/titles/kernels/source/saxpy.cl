kernel GROUP_SIZE(64, 1, 1) void saxpy(float a, global const float* x, global float* y, uint n) {
  uint i = group_x * 64 + local_x;
  if (i < n) y[i] = a * x[i] + y[i];
}
