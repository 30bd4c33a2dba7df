// Ids of the OpenCL library: the group size comes from the dispatch packet.
kernel void saxpy_packet(float a, global const float* x, global float* y, uint n) {
  uint i = (uint)get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
