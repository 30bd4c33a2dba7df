// An orrery under a night sky: one work item is one pixel of the frame. Spheres are met exactly, the brass rings by marching
// their distance field; light comes from the sun in the middle, with soft shadows, and the floor mirrors the scene once.
#include "scene.h"
#include "surface.h"
#include "trace.h"

// Dword index of a pixel in a 32-bit 64KB_R_X surface: blocks of 128x128 pixels, row-major; inside, an XOR of coordinate bits.
INLINE uint tiled_index(uint x, uint y, uint blocks_per_row) {
  uint inside = (x & 1) | (x & 2) | (x & 4) << 3 | (x & 8) << 3 | (x >> 4 & 1) * 0x880 | (x >> 5 & 1) * 0x200 | (x >> 6 & 1) * 0x2100;
  inside ^= (y & 7) << 2 ^ (y >> 3 & 1) * 0x440 ^ (y >> 4 & 1) * 0x80 ^ (y >> 5 & 1) * 0x100 ^ (y >> 6 & 1) * 0x1200;
  return ((y >> 7) * blocks_per_row + (x >> 7)) * 16384 + inside;
}

// layout: 0 linear with `pitch` pixels a row, 1 tiled with `pitch` blocks a row. The frame is A8R8G8B8.
SGPR_KERNEL void raymarch(buffer frame, global const struct scene* scene, uint width, uint height, uint pitch, uint layout IDS) {
  uint x = group_x * 8 + local_x, y = group_y * 8 + local_y;
  if (x >= width || y >= height) return;
  float u = ((float)x + 0.5f) * reciprocal((float)width) * 2.0f - 1.0f;
  float v = 1.0f - ((float)y + 0.5f) * reciprocal((float)height) * 2.0f;
  float3 direction = unit(xyz(scene->forward) + xyz(scene->right) * u + xyz(scene->up) * v);
  float3 colour = trace(scene, xyz(scene->eye), direction);
  colour = colour * (1.0f - 0.22f * (u * u + v * v));
  // Roll off what is bright, then the display's curve (close to a square root).
  colour = colour * 1.3f;
  colour = colour * (float3)(reciprocal(1.0f + colour.x), reciprocal(1.0f + colour.y), reciprocal(1.0f + colour.z)) * 1.15f;
  float grey = inner(colour, (float3)(0.30f, 0.59f, 0.11f));
  colour = grey + (colour - grey) * 1.35f;
  uint r = (uint)(square_root(unit_range(colour.x)) * 255.0f + 0.5f);
  uint g = (uint)(square_root(unit_range(colour.y)) * 255.0f + 0.5f);
  uint b = (uint)(square_root(unit_range(colour.z)) * 255.0f + 0.5f);
  uint index = layout ? tiled_index(x, y, pitch) : y * pitch + x;
  store_u32(0xff000000u | r << 16 | g << 8 | b, frame, index * 4);
}
