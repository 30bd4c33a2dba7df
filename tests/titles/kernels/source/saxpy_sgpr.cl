// Pointers and counts lie in user SGPRs, as in a game's shader.
SGPR_KERNEL void saxpy_sgpr(global const float* x, global float* y, float a, uint n IDS) {
  uint i = group_x * 64 + local_x;
  if (i < n) y[i] = a * x[i] + y[i];
}
