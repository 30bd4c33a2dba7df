// Through a descriptor: every step depends on the one before.
SGPR_KERNEL void counters_bound(buffer counters, uint add IDS) {
  uint at = (group_x * 64u + local_x) * 4u;
  store_u32(load_u32(counters, at) * 3u + add, counters, at);
}
