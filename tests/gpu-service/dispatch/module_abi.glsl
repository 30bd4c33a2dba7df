// The module ABI of gpu-service/shader/translate.hpp, written by hand for test kernels of one wave32 wave a group.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = SUBGROUP) in;

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Level1 {
  uint64_t tables[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Level2 {
  u64vec2 pages[];  // read, write
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word {
  uint value;
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer EscapeReport {
  uint count, instruction, address_low, address_high, is_store, loops_cut;
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer BoundInfos {
  uvec2 infos[];  // delta, size
};
layout(push_constant, std430) uniform Push {
  uint user_data[16];
  uint64_t page_table, escapes, bound_info, scratch;
  uint first_group_x, first_group_y, first_group_z, code_low;
  uint threads_x, threads_y, threads_z, code_high;
} push;

void escape(uint instruction, uint64_t address, bool store) {
  EscapeReport report = EscapeReport(push.escapes);
  if (atomicAdd(report.count, 1u) != 0u) return;
  report.instruction = instruction;
  report.address_low = uint(address);
  report.address_high = uint(address >> 32);
  report.is_store = store ? 1u : 0u;
}
uint64_t device_address(uint64_t address, bool store) {
  if ((address >> 40) != 0ul) return 0ul;
  uint64_t table = Level1(push.page_table).tables[uint(address >> 25)];
  if (table == 0ul) return 0ul;
  u64vec2 page = Level2(table).pages[uint(address >> 14) & 2047u];
  uint64_t base = store ? page.y : page.x;
  return base == 0ul ? 0ul : base + (address & 0x3ffful);
}
uint load(uint instruction, uint64_t address) {
  uint64_t at = device_address(address, false);
  if (at != 0ul) return Word(at).value;
  escape(instruction, address, false);
  return 0u;
}
void store(uint instruction, uint64_t address, uint value) {
  uint64_t at = device_address(address, true);
  if (at != 0ul) {
    Word(at).value = value;
  } else {
    escape(instruction, address, true);
  }
}
uint64_t user_address(uint i) { return packUint2x32(uvec2(push.user_data[i], push.user_data[i + 1])); }
// Slots of an invocation are lanes subgroup apart.
const uint kLanes = 32u / SUBGROUP;
uint group_x() { return gl_WorkGroupID.x + push.first_group_x; }
uint thread_of(uint slot) { return group_x() * 32u + slot * SUBGROUP + gl_SubgroupInvocationID; }
bool runs(uint thread) { return push.threads_x == 0u || thread < push.threads_x; }
