// From the arena to mirrors and their twins. Bytes that the device changed and nobody has written back yet (mirror and
// twin differ) are kept. Compiled by hand:
// glslangValidator -V --target-env vulkan1.3 -x -o upload_pages.inc upload_pages.comp
#version 450
#extension GL_GOOGLE_include_directive : require
#include "page_runs.glsl"
void main() {
  for (uint page = gl_WorkGroupID.x; page < push.page_count; page += gl_NumWorkGroups.x) {
    PageRun run = run_of(page);
    uint64_t at = offset_in(run, page);
    uvec4 now = Arena(run.arena + at).quad;
    if (run.fresh != 0u) {
      Local(run.mirror + at).quad = now;
      Local(run.twin + at).quad = now;
    } else {
      uvec4 mirror = Local(run.mirror + at).quad, twin = Local(run.twin + at).quad;
      uvec4 kept = bytes_set(mirror ^ twin);
      Local(run.mirror + at).quad = (mirror & kept) | (now & ~kept);
      Local(run.twin + at).quad = (twin & kept) | (now & ~kept);
    }
  }
}
