// What every twin shares. Buffers of the case are bindings 0.. in the order of cases.inc, values are push constants in
// order. EXACT forbids contraction, as the guest's compiler does; the native form leaves it to the driver.
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#ifdef NATIVE
#define EXACT
#else
#define EXACT precise
#endif
layout(push_constant, std430) uniform Push {
  uint values[8];
  uint64_t delta;  // device address = guest address + delta
  uint threads;    // threads that run, of the last group in x too
} push;
float value_f(uint i) { return uintBitsToFloat(push.values[i]); }
uint value_u(uint i) { return push.values[i]; }
#define GROUP_X gl_WorkGroupID.x
#define LOCAL gl_LocalInvocationID.x
#define BUFFER(index, name, type) \
  layout(set = 0, binding = index, std430) restrict buffer Buffer##index { type name[]; };
#define INPUT(index, name, type) \
  layout(set = 0, binding = index, std430) restrict readonly buffer Buffer##index { type name[]; };
