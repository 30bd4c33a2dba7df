// A 2D image by T# and S# in user SGPRs, seen through a rotated and shrunk window that reaches past its edges: a linear filter and a
// gather.
SGPR_KERNEL void image_sample(image from, sampler with, global float4* to, uint side IDS) {
  uint x = group_x * 64 + local_x, y = group_y;
  float u = ((float)x * 1.75f - (float)y * 0.25f) / (float)side - 0.3125f, v = ((float)x * 0.25f + (float)y * 1.5f) / (float)side - 0.28125f;
  float4 near = gather_image(from, with, v, u);
  to[y * side + x] = sample_image(from, with, u, v) + (near.x - near.y * 0.5f + near.z * 0.25f - near.w * 0.125f);
}
