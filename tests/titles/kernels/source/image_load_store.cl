// Two 2D images by T# in user SGPRs: loads with their neighbours (outside is 0), a store of one component.
SGPR_KERNEL void image_load_store(image from, image to IDS) {
  uint x = group_x * 8 + local_x, y = group_y * 8 + local_y;
  float4 own = load_image(from, x, y), left = load_image(from, x - 1, y), below = load_image(from, x, y + 1);
  store_image(own.x * 0.5f + left.y * 0.25f + below.z * 0.125f + own.w, to, x, y);
}
