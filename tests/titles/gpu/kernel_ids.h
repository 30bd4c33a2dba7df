// Included in front of every kernel source. Ids without the OpenCL library: no dispatch packet is needed then.
// Three builds: an amdhsa kernel (ids by intrinsics), a function behind an amdgpu_cs entry (ORRERY_SGPR_ARGUMENTS: ids
// are its last arguments), and the CPU (one call is one work item; the scheduler of on_cpu.c answers).
#ifndef ORRERY_KERNEL_IDS_H
#define ORRERY_KERNEL_IDS_H

#define GROUP_SIZE(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))

#ifdef __AMDGCN__
typedef __amdgpu_buffer_rsrc_t buffer;  // a V#: buffer descriptor, four SGPRs
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
#define load_u32(b, offset) __builtin_amdgcn_raw_buffer_load_b32(b, (int)(offset), 0, 0)
#define store_u32(value, b, offset) __builtin_amdgcn_raw_buffer_store_b32(value, b, (int)(offset), 0, 0)
#else
typedef constant uint* buffer;  // the V# itself
#define SGPR_KERNEL kernel
#define IDS
uint orrery_group_id(uint dimension);
uint orrery_local_id(uint dimension);
uint orrery_buffer_load(buffer b, uint offset);
void orrery_buffer_store(uint value, buffer b, uint offset);
#define group_x orrery_group_id(0)
#define group_y orrery_group_id(1)
#define group_z orrery_group_id(2)
#define local_x orrery_local_id(0)
#define local_y orrery_local_id(1)
#define local_z orrery_local_id(2)
#define load_u32(b, offset) orrery_buffer_load(b, offset)
#define store_u32(value, b, offset) orrery_buffer_store(value, b, offset)
#endif

#endif
