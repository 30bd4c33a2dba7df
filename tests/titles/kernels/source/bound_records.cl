// A structured buffer (stride 16), a typed one (8_8_8_8_UNORM) and a raw one, all bound by descriptors in user SGPRs.
SGPR_KERNEL void bound_records(buffer particles, buffer colours, buffer out, float dt IDS) {
  uint i = group_x * 64 + local_x;
  float4 p = load_record(particles, i), c = load_typed(colours, i);
  p.x += c.x * dt;
  p.y += c.y * dt;
  p.z += c.z * dt;
  p.w *= c.w;
  store_record(p, particles, i);
  store_u32(as_uint(p.x + p.y + p.z), out, i * 4);
}
