#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
// Every 32-bit atomic, some 64-bit ones, and a compare-and-swap loop on a float. Only results that do not depend on order.
kernel GROUP_SIZE(64, 1, 1) void atomics(volatile global uint* g, volatile global ulong* wide, volatile global float* f) {
  uint i = group_x * 64 + local_x;
  atomic_add(g, i);
  atomic_sub(g + 1, 2u * i);
  atomic_min(g + 2, i * 7 + 3);
  atomic_max(g + 3, i * 5);
  atomic_and(g + 4, ~(1u << (i & 31)) | i << 8);
  atomic_or(g + 5, 1u << (i & 31));
  atomic_xor(g + 6, i * 2654435761u);
  atomic_inc(g + 7);
  atomic_dec(g + 8);
  atomic_min((volatile global int*)g + 9, (int)i - 100);
  atomic_max((volatile global int*)g + 10, 100 - (int)i);
  if (atomic_cmpxchg(g + 16 + i, i, i + 1) == i) atomic_xchg(g + 16 + i, i * 3);
  atom_add(wide, (ulong)i << 33);
  union {
    uint u;
    float f;
  } old, next;
  do {
    old.f = f[0];
    next.f = old.f + 1.0f;
  } while (atomic_cmpxchg((volatile global uint*)f, old.u, next.u) != old.u);
}
