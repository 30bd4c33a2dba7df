// The host's vertex shader of every draw: positions that the primitive shader left in the draw's memory
// (shader/stage.hpp), and what the pixel shader interpolates with. Compiled by hand:
// glslangValidator -V --target-env vulkan1.3 -x -o host_vertex.inc host_vertex.vert
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Word {
  uint word;
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Four {
  vec4 four;
};
// PushConstants (shader/translate.hpp); what pixel shaders do not use says where things lie.
layout(push_constant, std430) uniform Push {
  uint user_data[16];
  uint64_t page_table, escapes, memory;
  float point_size;
  uint clip_from_minus_one;  // depths of -w to w instead of 0 to w
  uint threads, vertices_at, vertex_bytes;
  uint code_low;
  uint corners, unused, group_bytes;
  uint code_high;
} push;
layout(location = 0) out vec2 weights;
layout(location = 1) noperspective out vec2 window_weights;
layout(location = 2) flat out uvec3 places;

uint word_at(uint byte) { return Word(push.memory + byte).word; }

void main() {
  uint corner = uint(gl_VertexIndex) % push.corners, primitive = uint(gl_VertexIndex) / push.corners;
  uint thread = primitive % push.threads, base = primitive / push.threads * push.group_bytes;
  uint allocated = word_at(base + 4u), word = word_at(base + 64u + push.threads * 32u + thread * 4u);
  uvec3 vertices = uvec3(word, word >> 10, word >> 20) & 0x1ffu;
  places = base + push.vertices_at + vertices * push.vertex_bytes;
  weights = window_weights = vec2(corner == 1u ? 1.0 : 0.0, corner == 2u ? 1.0 : 0.0);
  gl_PointSize = push.point_size;
  uint vertex = vertices[corner];
  bool there = thread < ((allocated >> 12) & 0x7ffu) && (word >> 31) == 0u && vertex < (allocated & 0x7ffu);
  vec4 position = there ? Four(push.memory + places[corner]).four : vec4(2.0, 2.0, 2.0, 1.0);
  if (there && push.clip_from_minus_one != 0u) position.z = (position.z + position.w) * 0.5;
  gl_Position = position;
}
