// Buffer descriptors in user SGPRs; the descriptor's own range check drops what is behind the end.
SGPR_KERNEL void saxpy_bound(buffer x, buffer y, float a IDS) {
  uint offset = (group_x * 64 + local_x) * 4;
  float result = a * as_float(load_u32(x, offset)) + as_float(load_u32(y, offset));
  store_u32(as_uint(result), y, offset);
}
