// libSceAgc and libSceAgcDriver. Builders write one packet into the command buffer and answer its address.
#pragma once
#include "kernel.h"
SCE_BEGIN

// The writer that every builder takes first.
typedef struct SceAgcCommandBuffer {
  uint32_t* begin;
  uint32_t* end;
  uint32_t* cursor;
  uint32_t* limit;
  int (*overflow)(struct SceAgcCommandBuffer*, uint32_t dwords, void* context);
  void* overflow_context;
  uint32_t reserved_dwords;
  uint32_t padding;
} SceAgcCommandBuffer;

// What is handed to the driver.
typedef struct SceAgcSubmission {
  uint64_t gpu_address;
  uint32_t dwords;
  uint16_t flags;
  uint16_t padding;
} SceAgcSubmission;

typedef struct SceAgcRegister {
  uint32_t offset;
  uint32_t value;
} SceAgcRegister;

enum { SCE_AGC_QUEUE_GRAPHICS = 0, SCE_AGC_QUEUE_COMPUTE = 3 };

int sceAgcInit(uint32_t* state, uint32_t version);
int sceAgcCreateShader(void** out, void* header, const void* code, uint32_t flags);
int sceAgcDriverCreateQueue(uint32_t type, void** queue, uint32_t flags);
int sceAgcDriverDestroyQueue(void* queue);
int sceAgcDriverSubmitDcb(const SceAgcSubmission* submission);
int sceAgcDriverSubmitCommandBuffer(void* queue, const SceAgcSubmission* submission);
int sceAgcDriverSubmitAcb(uint32_t owner, const SceAgcSubmission* submission);
int sceAgcDriverAddEqEvent(SceKernelEqueue queue, uintptr_t id, void* user_data);

uint32_t* sceAgcCbNop(SceAgcCommandBuffer* cb, uint32_t dwords);
uint32_t* sceAgcDcbResetQueue(SceAgcCommandBuffer* cb, uint32_t a, uint32_t b);
// A register is passed as one value, by value: offset in the low half.
uint32_t* sceAgcDcbSetCxRegisterDirect(SceAgcCommandBuffer* cb, SceAgcRegister r);
uint32_t* sceAgcDcbSetShRegisterDirect(SceAgcCommandBuffer* cb, SceAgcRegister r);
uint32_t* sceAgcDcbSetUcRegisterDirect(SceAgcCommandBuffer* cb, SceAgcRegister r);
uint32_t* sceAgcCbSetShRegisterRangeDirect(SceAgcCommandBuffer* cb, uint32_t offset, const uint32_t* values,
                                           uint32_t count);
uint32_t* sceAgcDcbSetCxRegistersIndirect(SceAgcCommandBuffer* cb, const SceAgcRegister* table, uint32_t count);
uint32_t* sceAgcDcbSetShRegistersIndirect(SceAgcCommandBuffer* cb, const SceAgcRegister* table, uint32_t count);
uint32_t* sceAgcDcbSetUcRegistersIndirect(SceAgcCommandBuffer* cb, const SceAgcRegister* table, uint32_t count);
uint32_t* sceAgcDcbSetNumInstances(SceAgcCommandBuffer* cb, uint32_t count);
uint32_t* sceAgcCbDispatch(SceAgcCommandBuffer* cb, uint32_t x, uint32_t y, uint32_t z, uint32_t initiator);
uint32_t* sceAgcDcbEventWrite(SceAgcCommandBuffer* cb, uint32_t type, const void* address);
uint32_t* sceAgcDcbSetFlip(SceAgcCommandBuffer* cb, uint32_t port, int32_t buffer, uint32_t mode, int64_t argument);

uint32_t* sceAgcDcbSetIndexCount(SceAgcCommandBuffer* cb, uint32_t count);
uint32_t* sceAgcDcbSetIndexBuffer(SceAgcCommandBuffer* cb, const void* indices);
uint32_t* sceAgcDcbSetIndexSize(SceAgcCommandBuffer* cb, uint8_t type, uint8_t flag);
uint32_t* sceAgcDcbSetBaseIndirectArgs(SceAgcCommandBuffer* cb, uint32_t compute, const void* base);
uint32_t* sceAgcDcbDrawIndexAuto(SceAgcCommandBuffer* cb, uint32_t count, uint64_t initiator);
uint32_t* sceAgcDcbDrawIndex(SceAgcCommandBuffer* cb, uint32_t count, const void* indices, uint64_t initiator);
uint32_t* sceAgcDcbDrawIndirect(SceAgcCommandBuffer* cb, uint32_t offset, uint64_t initiator);
uint32_t* sceAgcDcbDrawIndexIndirect(SceAgcCommandBuffer* cb, uint32_t offset, uint64_t initiator);
// The graphics queue's arguments lie at an offset from the base set before, a compute queue's at an address.
uint32_t* sceAgcDcbDispatchIndirect(SceAgcCommandBuffer* cb, uint32_t offset, uint32_t modifier);
uint32_t* sceAgcAcbDispatchIndirect(SceAgcCommandBuffer* cb, const void* arguments, uint32_t modifier);
uint32_t* sceAgcDcbAcquireMem(SceAgcCommandBuffer* cb, uint8_t engine, uint32_t cb_db_op, uint32_t gcr,
                              const volatile void* base, uint64_t bytes, uint32_t poll_cycles);
uint32_t* sceAgcAcbAcquireMem(SceAgcCommandBuffer* cb, uint32_t gcr, const volatile void* base, uint64_t bytes,
                              uint32_t poll_cycles);
// data_select 1: 32 bits, 2: 64 bits, 3: GPU clock. interrupt not 0: sceAgcDriverAddEqEvent's queues hear of it.
uint32_t* sceAgcCbReleaseMem(SceAgcCommandBuffer* cb, uint8_t event, uint16_t gcr, uint64_t destination,
                             uint8_t cache_policy, volatile void* address, uint32_t data_select, uint64_t data,
                             uint16_t gds_offset, uint16_t gds_size, uint8_t interrupt, uint32_t context_id);
// Selectors: destination 3 memory through L2; source 2 immediate (fill), 3 memory through L2 (copy).
uint32_t* sceAgcDcbDmaData(SceAgcCommandBuffer* cb, uint32_t engine, uint32_t destination_select,
                           uint32_t destination_policy, void* destination, uint32_t source_select,
                           uint32_t source_policy, uint64_t source_or_immediate, uint32_t bytes, uint32_t raw_wait,
                           uint32_t disable_write_confirm, uint32_t cp_sync);
uint32_t* sceAgcAcbDmaData(SceAgcCommandBuffer* cb, uint32_t destination_select, uint32_t destination_policy,
                           void* destination, uint32_t source_select, uint32_t source_policy,
                           uint64_t source_or_immediate, uint32_t bytes, uint32_t raw_wait,
                           uint32_t disable_write_confirm, uint32_t cp_sync);
// destination_select 5: memory. one_address 1: every word to the same place.
uint32_t* sceAgcDcbWriteData(SceAgcCommandBuffer* cb, uint32_t destination_select, uint32_t cache_policy,
                             volatile void* address, const uint32_t* data, uint32_t dwords, uint32_t one_address,
                             uint32_t write_confirm);
// compare 0 always, 1 <, 2 <=, 3 ==, 4 !=, 5 >=, 6 >.
uint32_t* sceAgcDcbWaitRegMem(SceAgcCommandBuffer* cb, uint32_t is_64_bit, uint32_t compare, uint32_t operation,
                              uint32_t cache_policy, const volatile void* address, uint64_t reference, uint64_t mask,
                              uint32_t poll_cycles);
uint32_t* sceAgcAcbWaitRegMem(SceAgcCommandBuffer* cb, uint32_t is_64_bit, uint32_t compare, uint32_t operation,
                              uint32_t cache_policy, const volatile void* address, uint64_t reference, uint64_t mask,
                              uint32_t poll_cycles);
uint32_t* sceAgcDcbJump(SceAgcCommandBuffer* cb, const uint32_t* target, uint32_t dwords);
uint32_t* sceAgcAcbJump(SceAgcCommandBuffer* cb, const uint32_t* target, uint32_t dwords);
uint32_t* sceAgcDcbPushMarker(SceAgcCommandBuffer* cb, const char* text);
uint32_t* sceAgcDcbPopMarker(SceAgcCommandBuffer* cb);
int sceAgcSetCxRegIndirectPatchSetAddress(uint32_t* packet, const SceAgcRegister* table);
int sceAgcSetShRegIndirectPatchSetAddress(uint32_t* packet, const SceAgcRegister* table);
int sceAgcSetUcRegIndirectPatchSetAddress(uint32_t* packet, const SceAgcRegister* table);
int sceAgcSetCxRegIndirectPatchAddRegisters(uint32_t* packet, uint32_t count);
int sceAgcSetShRegIndirectPatchAddRegisters(uint32_t* packet, uint32_t count);
int sceAgcSetUcRegIndirectPatchAddRegisters(uint32_t* packet, uint32_t count);
int sceAgcDriverDeleteEqEvent(SceKernelEqueue queue, uintptr_t id);
SCE_END
