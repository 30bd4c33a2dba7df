#version 460
// Copies 16 bytes an invocation: what device memory allows at best (bench_limits).
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer From { uvec4 from[]; };
layout(set = 0, binding = 1) writeonly buffer To { uvec4 to[]; };
void main() {
  const uint at = gl_WorkGroupID.y * (gl_NumWorkGroups.x * 256) + gl_GlobalInvocationID.x;
  to[at] = from[at];
}
