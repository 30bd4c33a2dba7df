#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"
#include "remainder.glsl"
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats {
  float at[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node {
  uint64_t data, next;
  uint n, kind;
};
INPUT(0, table, uint64_t)
layout(set = 0, binding = 1, std430) restrict readonly buffer Head { uint64_t data, next; uint n, kind; } head;
BUFFER(2, result, float)
void main() {
  uint i = GROUP_X * 64 + LOCAL;
  if (i >= value_u(0)) return;
  float s = Floats(table[i & 15] + push.delta).at[i];
  uint64_t data = head.data, next = head.next;
  uint n = head.n, kind = head.kind;
  while (true) {
    Floats f = Floats(data + push.delta);
    if (kind == (i & 3)) {
      s += f.at[remainder(i, n)];
    } else if (kind == 7) {
      s -= f.at[0];
    }
    if (next == 0ul) break;
    Node q = Node(next + push.delta);
    data = q.data, next = q.next, n = q.n, kind = q.kind;
  }
  result[i] = s;
}
