kernel GROUP_SIZE(8, 8, 1) void mandelbrot(global uint* out, uint w, uint h, float x0, float y0, float step, uint limit) {
  uint x = group_x * 8 + local_x, y = group_y * 8 + local_y;
  if (x >= w || y >= h) return;
  float cr = x0 + x * step, ci = y0 + y * step, zr = 0, zi = 0;
  uint count = 0;
  while (count < limit && zr * zr + zi * zi < 4.0f) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    count++;
  }
  out[y * w + x] = count;
}
