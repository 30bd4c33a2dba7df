// Changes memory in place; nothing may run twice, and nothing may be left out. A third way is in bound.cl.

// Through a pointer: every step depends on the one before.
kernel GROUP_SIZE(64, 1, 1) void counters_pointer(global uint* counters, uint add) {
  uint i = group_x * 64 + local_x;
  counters[i] = (counters[i] ^ add) * 16777619u;
}

// Appends in whatever order, and a histogram.
kernel GROUP_SIZE(64, 1, 1) void counters_append(volatile global uint* head, global uint* list,
                                                 volatile global uint* histogram, uint tag) {
  uint i = group_x * 64 + local_x;
  uint place = atomic_inc(head);
  list[place] = tag * 65536u + i;
  atomic_add(histogram + (i * 7u + tag) % 61u, tag + 1u);
}
