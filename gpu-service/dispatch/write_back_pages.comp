// Bytes that the device changed (mirror and twin differ) go to the arena, and no others; the twin follows. A byte of the
// arena that differs from the twin too was written by both sides: counted. Compiled by hand:
// glslangValidator -V --target-env vulkan1.3 -x -o write_back_pages.inc write_back_pages.comp
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#include "page_runs.glsl"
layout(buffer_reference, std430, buffer_reference_align = 1) volatile buffer Byte {
  uint8_t value;
};
layout(buffer_reference, std430, buffer_reference_align = 4) volatile buffer Word {
  uint value;
};
void conflict(uint64_t where, uint bytes) {
  if (atomicAdd(Report(push.report).conflicts, bytes) != 0u) return;
  Report(push.report).first_low = uint(where);
  Report(push.report).first_high = uint(where >> 32);
}
void main() {
  for (uint page = gl_WorkGroupID.x; page < push.page_count; page += gl_NumWorkGroups.x) {
    PageRun run = run_of(page);
    uint64_t at = offset_in(run, page);
    uvec4 mirror = Local(run.mirror + at).quad, twin = Local(run.twin + at).quad;
    uvec4 changed = bytes_set(mirror ^ twin);
    uint bytes = 0u;
    if (changed != uvec4(0u)) {
      uvec4 arena = Arena(run.arena + at).quad;
      uvec4 both = bytes_set(arena ^ twin) & changed;
      uvec4 counts = uvec4(bitCount(changed)) / 8u, both_counts = uvec4(bitCount(both)) / 8u;
      bytes = counts.x + counts.y + counts.z + counts.w;
      uint clashes = both_counts.x + both_counts.y + both_counts.z + both_counts.w;
      for (uint i = 0u; i < 4u; ++i) {
        uint64_t word = run.arena + at + 4u * i;
        if (changed[i] == 0xffffffffu) {
          Word(word).value = mirror[i];
        } else if (changed[i] != 0u) {
          for (uint b = 0u; b < 4u; ++b) {
            if ((changed[i] >> (8u * b) & 1u) != 0u) Byte(word + b).value = uint8_t(mirror[i] >> (8u * b));
          }
        }
        if (clashes != 0u && both[i] != 0u) {
          conflict(word + uint(findLSB(both[i])) / 8u, clashes);
          clashes = 0u;
        }
      }
      Local(run.twin + at).quad = mirror;
    }
    uint sum = subgroupAdd(bytes);
    if (sum != 0u && subgroupElect()) atomicAdd(Report(push.report).bytes, sum);
  }
}
