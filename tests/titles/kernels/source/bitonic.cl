// One step of a bitonic sort in memory.
kernel void bitonic(global uint* d, uint j, uint k) {
  uint i = (uint)get_global_id(0), other = i ^ j;
  if (other > i) {
    uint a = d[i], b = d[other];
    if (((i & k) == 0) == (a > b)) {
      d[i] = b;
      d[other] = a;
    }
  }
}
