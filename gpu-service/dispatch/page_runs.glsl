// Runs of host pages (4 KiB) with the places of their bytes; one workgroup of 256 handles a page at a time, 16 bytes an
// invocation. Layout: page_passes.hpp.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 256) in;

struct PageRun {
  uint64_t arena, mirror, twin;  // device addresses of the first page; for records, arena is its offset in the arena
  uint first;                    // number of the first page among all of the pass
  uint fresh;                    // not 0: mirror and twin hold nothing yet
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer PageRuns {
  PageRun runs[];
};
// What the CPU may write at any time is loaded once.
layout(buffer_reference, std430, buffer_reference_align = 16) volatile buffer Arena {
  uvec4 quad;
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Local {
  uvec4 quad;
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Report {
  uint pages;                 // records
  uint bytes;                 // that went back
  uint conflicts;             // bytes that the CPU changed too
  uint first_low, first_high;  // device address of the first such byte in the arena
};
layout(push_constant, std430) uniform Push {
  uint64_t runs, report, records;
  uint run_count, page_count, record_room;
} push;

PageRun run_of(uint page) {
  uint low = 0u, high = push.run_count;
  while (high - low > 1u) {
    uint middle = (low + high) / 2u;
    if (PageRuns(push.runs).runs[middle].first <= page) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return PageRuns(push.runs).runs[low];
}
uint64_t offset_in(PageRun run, uint page) { return uint64_t(page - run.first) * 4096ul + gl_LocalInvocationID.x * 16u; }
// 0xff in every byte where x is not 0.
uvec4 bytes_set(uvec4 x) {
  uvec4 high = (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
  return (high >> 7) * 0xffu;
}
