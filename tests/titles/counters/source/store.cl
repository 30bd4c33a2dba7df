// Stores through a descriptor for a long time, and reads nothing: where it may, it stores straight to guest memory.
SGPR_KERNEL void counters_store(buffer words, uint rounds IDS) {
  uint id = group_x * 64u + local_x;
  for (uint round = 0; round < rounds; round++) store_u32(id + round, words, ((id + round * 64u) & 4095u) * 4u);
}
