kernel void stencil(global const float* in, global float* out, int w, int h) {
  int x = (int)get_global_id(0), y = (int)get_global_id(1);
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
}
