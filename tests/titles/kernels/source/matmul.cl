#define TILE 16

// C = A * B, square matrices of n columns, n a multiple of TILE; tiles are staged in LDS.
kernel GROUP_SIZE(TILE, TILE, 1) void matmul(global const float* a, global const float* b, global float* c, uint n) {
  local float tile_a[TILE][TILE], tile_b[TILE][TILE + 1];
  uint lx = local_x, ly = local_y, x = group_x * TILE + lx, y = group_y * TILE + ly;
  float sum = 0;
  for (uint t = 0; t < n; t += TILE) {
    tile_a[ly][lx] = a[y * n + t + lx];
    tile_b[ly][lx] = b[(t + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < TILE; k++) sum = fma(tile_a[ly][k], tile_b[k][lx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}
