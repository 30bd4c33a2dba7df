// Included in front of every kernel source. Ids without the OpenCL library: no dispatch packet is needed then.
// Three builds: an amdhsa kernel (ids by intrinsics), a function behind an amdgpu_cs entry (ORRERY_SGPR_ARGUMENTS: ids
// are its last arguments), and the CPU (one call is one work item; the scheduler of on_cpu.c answers).
#ifndef ORRERY_KERNEL_IDS_H
#define ORRERY_KERNEL_IDS_H

#define GROUP_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))

#ifdef __AMDGCN__
typedef __amdgpu_buffer_rsrc_t buffer;  // a V#: buffer descriptor, four SGPRs
typedef uint8 image;                    // a T#: image descriptor, eight SGPRs
typedef uint4 sampler;                  // an S#: sampler descriptor, four SGPRs
#ifdef ORRERY_SGPR_ARGUMENTS
#define SGPR_KERNEL __attribute__((always_inline))
#define IDS , uint group_x, uint group_y, uint group_z, uint local_x, uint local_y, uint local_z
#else
#define group_x __builtin_amdgcn_workgroup_id_x()
#define group_y __builtin_amdgcn_workgroup_id_y()
#define group_z __builtin_amdgcn_workgroup_id_z()
#define local_x __builtin_amdgcn_workitem_id_x()
#define local_y __builtin_amdgcn_workitem_id_y()
#define local_z __builtin_amdgcn_workitem_id_z()
#endif
// Wave operations; every lane of the wave must reach them.
#if __AMDGCN_WAVEFRONT_SIZE == 64
#define wave_ballot(condition) __builtin_amdgcn_ballot_w64(condition)
#else
#define wave_ballot(condition) ((ulong)__builtin_amdgcn_ballot_w32(condition))
#endif
#define wave_size() ((uint)__AMDGCN_WAVEFRONT_SIZE)
#define lanes_below(mask) __builtin_amdgcn_mbcnt_hi((uint)((mask) >> 32), __builtin_amdgcn_mbcnt_lo((uint)(mask), 0))
#define wave_first(value) ((uint)__builtin_amdgcn_readfirstlane((int)(value)))
// The value of lane `source` (0..31) of the own half wave of 32.
#define wave_read(value, source) ((uint)__builtin_amdgcn_ds_bpermute((int)((source) * 4), (int)(value)))
#define load_u32(b, offset) __builtin_amdgcn_raw_buffer_load_b32(b, (int)(offset), 0, 0)
#define store_u32(value, b, offset) __builtin_amdgcn_raw_buffer_store_b32(value, b, (int)(offset), 0, 0)
#ifdef ORRERY_SGPR_ARGUMENTS
// In descriptor_access.ll: a V# or T# from a table in memory; one word by scalar load; a record of four floats of a
// structured buffer; four components of an element in the buffer's format.
buffer descriptor_at(global const uint4* table, uint index);
image image_at(global const uint4* table, uint index);
uint load_constant(buffer b, uint offset);
float4 load_record(buffer b, uint index);
void store_record(float4 value, buffer b, uint index);
float4 load_typed(buffer b, uint index);
// Texel of a 2D image; outside it loads give 0 and stores do nothing. Stores write one component.
float4 load_image(image t, uint x, uint y);
void store_image(float value, image t, uint x, uint y);
// Level 0 of a 2D image at normalised coordinates, filtered; one component of the four texels of a linear filter.
float4 sample_image(image t, sampler s, float x, float y);
float4 gather_image(image t, sampler s, float x, float y);
#endif
#else
typedef constant uint* buffer;  // the V# itself
typedef constant uint* image;
typedef constant uint* sampler;
#define SGPR_KERNEL kernel
#define IDS
uint orrery_group_id(uint dimension);
uint orrery_local_id(uint dimension);
uint orrery_buffer_load(buffer b, uint offset);
void orrery_buffer_store(uint value, buffer b, uint offset);
uint orrery_wave_size(void);
ulong orrery_wave_ballot(int condition);
uint orrery_wave_read(uint value, uint source, uint among);
#define wave_size() orrery_wave_size()
#define wave_ballot(condition) orrery_wave_ballot(condition)
#define lanes_below(mask) ((uint)popcount((ulong)(mask) & ((1ul << (local_x % wave_size())) - 1)))
#define wave_first(value) orrery_wave_read(value, 0, 64)
#define wave_read(value, source) orrery_wave_read(value, source, 32)
#define group_x orrery_group_id(0)
#define group_y orrery_group_id(1)
#define group_z orrery_group_id(2)
#define local_x orrery_local_id(0)
#define local_y orrery_local_id(1)
#define local_z orrery_local_id(2)
buffer orrery_descriptor_at(global const uint4* table, uint index);
image orrery_image_at(global const uint4* table, uint index);
float4 orrery_load_record(buffer b, uint index);
void orrery_store_record(float4 value, buffer b, uint index);
float4 orrery_load_typed(buffer b, uint index);
float4 orrery_load_image(image t, uint x, uint y);
void orrery_store_image(float value, image t, uint x, uint y);
float4 orrery_sample_image(image t, sampler s, float x, float y);
float4 orrery_gather_image(image t, sampler s, float x, float y);
#define sample_image(t, s, x, y) orrery_sample_image(t, s, x, y)
#define gather_image(t, s, x, y) orrery_gather_image(t, s, x, y)
#define load_image(t, x, y) orrery_load_image(t, x, y)
#define store_image(value, t, x, y) orrery_store_image(value, t, x, y)
#define descriptor_at(table, index) orrery_descriptor_at(table, index)
#define image_at(table, index) orrery_image_at(table, index)
#define load_constant(b, offset) orrery_buffer_load(b, offset)
#define load_record(b, index) orrery_load_record(b, index)
#define store_record(value, b, index) orrery_store_record(value, b, index)
#define load_typed(b, index) orrery_load_typed(b, index)
#define load_u32(b, offset) orrery_buffer_load(b, offset)
#define store_u32(value, b, offset) orrery_buffer_store(value, b, offset)
#endif

#endif
