// One step of n bodies {x, y, z, mass}, n a multiple of 128; bodies are staged in LDS. rsqrt is approximate on the GPU.
kernel GROUP_SIZE(128, 1, 1) void nbody(global const float4* position, global float4* velocity, global float4* moved, uint n,
                                        float dt, float softening) {
  local float4 staged[128];
  uint l = local_x, i = group_x * 128 + l;
  float4 own = position[i];
  float ax = 0, ay = 0, az = 0;
  for (uint t = 0; t < n; t += 128) {
    staged[l] = position[t + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 128; j++) {
      float4 other = staged[j];
      float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      float inverse = native_rsqrt(dx * dx + dy * dy + dz * dz + softening);
      float scale = other.w * inverse * inverse * inverse;
      ax += dx * scale;
      ay += dy * scale;
      az += dz * scale;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 v = velocity[i];
  v.x += ax * dt;
  v.y += ay * dt;
  v.z += az * dt;
  velocity[i] = v;
  moved[i] = (float4)(own.x + v.x * dt, own.y + v.y * dt, own.z + v.z * dt, own.w);
}
