// Pages that the device changed (mirror and twin differ) as records for the host, which can't be reached otherwise; the
// twin follows. Report::pages counts all of them; those without room are left for another pass. Compiled by hand:
// glslangValidator -V --target-env vulkan1.3 -x -o collect_pages.inc collect_pages.comp
#version 450
#extension GL_GOOGLE_include_directive : require
#include "page_runs.glsl"
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Record {
  uvec4 head;  // the page's offset in the arena, low and high word
  uvec4 mirror[256], twin[256];
};
const uint64_t kRecordBytes = 16ul + 2ul * 4096ul;
shared uint changed, place;

void main() {
  for (uint page = gl_WorkGroupID.x; page < push.page_count; page += gl_NumWorkGroups.x) {
    uint me = gl_LocalInvocationID.x;
    if (me == 0u) changed = 0u;
    barrier();
    PageRun run = run_of(page);
    uint64_t at = offset_in(run, page);
    uvec4 mirror = Local(run.mirror + at).quad, twin = Local(run.twin + at).quad;
    if (mirror != twin) changed = 1u;
    barrier();
    if (me == 0u && changed != 0u) place = atomicAdd(Report(push.report).pages, 1u);
    barrier();
    if (changed != 0u && place < push.record_room) {
      Record record = Record(push.records + place * kRecordBytes);
      uint64_t offset = run.arena + uint64_t(page - run.first) * 4096ul;
      if (me == 0u) record.head = uvec4(uint(offset), uint(offset >> 32), 0u, 0u);
      record.mirror[me] = mirror;
      record.twin[me] = twin;
      Local(run.twin + at).quad = mirror;
    }
    barrier();
  }
}
