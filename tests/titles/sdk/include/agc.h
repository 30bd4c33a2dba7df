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
SCE_END
