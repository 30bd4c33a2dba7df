// Loads and stores of 16, 8, 4 and 2 bytes at every alignment; many of them lie across two pages.
struct __attribute__((packed)) wide { uint4 v; };
struct __attribute__((packed)) pair { uint2 v; };
struct __attribute__((packed)) one { uint v; };
struct __attribute__((packed)) half_word { ushort v; };

kernel GROUP_SIZE(64, 1, 1) void unaligned(global const uchar* in, global uchar* out, uint n) {
  uint i = group_x * 64 + local_x;
  if (i >= n) return;
  uint4 v = ((global const struct wide*)(in + 37 * i))->v;
  uint2 w = ((global const struct pair*)(in + 37 * i + 17))->v;
  uint x = ((global const struct one*)(in + 37 * i + 26))->v;
  ushort y = ((global const struct half_word*)(in + 37 * i + 31))->v;
  ((global struct wide*)(out + 35 * i + 1))->v = v + i;
  ((global struct pair*)(out + 35 * i + 17))->v = w ^ i;
  ((global struct one*)(out + 35 * i + 25))->v = x * 3;
  ((global struct half_word*)(out + 35 * i + 30))->v = y + (ushort)i;
}
