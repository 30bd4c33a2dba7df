// A private array with computed indices: it lies in scratch memory.
kernel GROUP_SIZE(64, 1, 1) void spill(global const uint* in, global uint* out, uint n) {
  uint i = group_x * 64 + local_x;
  uint own[64];
  for (uint k = 0; k < 64; k++) own[k] = in[i * 64 + k];
  for (uint r = 0; r < n; r++) {
    uint a = in[r] & 63, b = in[r + 1] & 63, t = own[a];
    own[a] = own[b] ^ r;
    own[b] = t;
  }
  for (uint k = 0; k < 64; k++) out[i * 64 + k] = own[k];
}
