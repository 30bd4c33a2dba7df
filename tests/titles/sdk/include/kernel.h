// libkernel: output, modules, memory, time, event queues, semaphores, event flags. Functions answer 0 or 0x80020000 + errno.
#pragma once
#include "sce_export.h"
SCE_BEGIN

int64_t sceKernelWrite(int file, const void* data, size_t size);
int64_t write(int file, const void* data, size_t size);
int sceKernelDebugOutText(int channel, const char* text);
int* __error(void);
void* sceKernelGetProcParam(void);
int sceKernelDlsym(int module, const char* name, void** address);
int sceKernelLoadStartModule(const char* path, size_t argument_size, const void* arguments, uint32_t flags,
                             const void* options, int* result);

// Protection bits.
#define SCE_KERNEL_PROT_CPU_READ 0x01
#define SCE_KERNEL_PROT_CPU_RW 0x03
#define SCE_KERNEL_PROT_GPU_READ 0x10
#define SCE_KERNEL_PROT_GPU_WRITE 0x20
#define SCE_KERNEL_PROT_GPU_RW 0x30
#define SCE_KERNEL_PROT_ALL_RW 0x33
// Memory types: cached ("Onion") and write-combined ("Garlic").
#define SCE_KERNEL_WB_ONION 0
#define SCE_KERNEL_WC_GARLIC 3
// Map flags: exactly at *address; and there only when nothing is in the way.
#define SCE_KERNEL_MAP_FIXED 0x10
#define SCE_KERNEL_MAP_NO_OVERWRITE 0x80

typedef struct SceKernelBatchMapEntry {
  void* start;
  int64_t offset;
  size_t length;
  uint8_t protection;
  uint8_t type;
  int16_t reserved;
  int32_t operation;
} SceKernelBatchMapEntry;
enum { SCE_KERNEL_MAP_OP_MAP_DIRECT, SCE_KERNEL_MAP_OP_UNMAP, SCE_KERNEL_MAP_OP_PROTECT, SCE_KERNEL_MAP_OP_MAP_FLEXIBLE };

typedef struct SceKernelVirtualQueryInfo {
  void* start;
  void* end;
  int64_t offset;
  int32_t protection;
  int32_t memory_type;
  uint8_t flags;  // bit 0 flexible, 1 direct, 2 stack, 3 pooled, 4 committed
  char name[32];
} SceKernelVirtualQueryInfo;

size_t sceKernelGetDirectMemorySize(void);
int sceKernelAllocateDirectMemory(int64_t search_start, int64_t search_end, size_t length, size_t alignment, int type,
                                  int64_t* physical);
int sceKernelAllocateMainDirectMemory(size_t length, size_t alignment, int type, int64_t* physical);
int sceKernelAvailableDirectMemorySize(int64_t search_start, int64_t search_end, size_t alignment, int64_t* physical,
                                       size_t* size);
int sceKernelReleaseDirectMemory(int64_t physical, size_t length);
int sceKernelMapDirectMemory(void** address, size_t length, int protection, int flags, int64_t physical,
                             size_t alignment);
int sceKernelMapNamedDirectMemory(void** address, size_t length, int protection, int flags, int64_t physical,
                                  size_t alignment, const char* name);
int sceKernelMapFlexibleMemory(void** address, size_t length, int protection, int flags);
int sceKernelMapNamedFlexibleMemory(void** address, size_t length, int protection, int flags, const char* name);
int sceKernelReleaseFlexibleMemory(void* address, size_t length);
int sceKernelReserveVirtualRange(void** address, size_t length, int flags, size_t alignment);
int sceKernelBatchMap(SceKernelBatchMapEntry* entries, int count, int* done);
int sceKernelMunmap(void* address, size_t length);
int sceKernelMprotect(const void* address, size_t length, int protection);
int sceKernelVirtualQuery(const void* address, int flags, SceKernelVirtualQueryInfo* info, size_t info_size);

int sceKernelUsleep(uint32_t microseconds);
uint64_t sceKernelGetProcessTime(void);  // microseconds since the process began
uint64_t sceKernelGetProcessTimeCounter(void);
uint64_t sceKernelGetProcessTimeCounterFrequency(void);
uint64_t sceKernelReadTsc(void);
uint64_t sceKernelGetTscFrequency(void);

typedef void* SceKernelEqueue;
typedef struct SceKernelEvent {
  uintptr_t ident;
  int16_t filter;
  uint16_t flags;
  uint32_t filter_flags;
  intptr_t data;
  void* user_data;
} SceKernelEvent;
int sceKernelCreateEqueue(SceKernelEqueue* queue, const char* name);
int sceKernelDeleteEqueue(SceKernelEqueue queue);
int sceKernelWaitEqueue(SceKernelEqueue queue, SceKernelEvent* events, int most, int* got, uint32_t* timeout_us);

typedef void* SceKernelSema;
int sceKernelCreateSema(SceKernelSema* sema, const char* name, uint32_t attributes, int initial, int most,
                        const void* options);
int sceKernelDeleteSema(SceKernelSema sema);
int sceKernelSignalSema(SceKernelSema sema, int count);
int sceKernelWaitSema(SceKernelSema sema, int count, uint32_t* timeout_us);

int sceKernelPollSema(SceKernelSema sema, int count);

typedef void* SceKernelEventFlag;
#define SCE_KERNEL_EVF_ATTR_MULTI 0x20
#define SCE_KERNEL_EVF_WAITMODE_AND 0x01
#define SCE_KERNEL_EVF_WAITMODE_OR 0x02
#define SCE_KERNEL_EVF_WAITMODE_CLEAR_ALL 0x10
#define SCE_KERNEL_EVF_WAITMODE_CLEAR_PAT 0x20
int sceKernelCreateEventFlag(SceKernelEventFlag* flag, const char* name, uint32_t attributes, uint64_t initial,
                             const void* options);
int sceKernelDeleteEventFlag(SceKernelEventFlag flag);
int sceKernelSetEventFlag(SceKernelEventFlag flag, uint64_t bits);
int sceKernelClearEventFlag(SceKernelEventFlag flag, uint64_t keep);
int sceKernelPollEventFlag(SceKernelEventFlag flag, uint64_t bits, uint32_t mode, uint64_t* seen);
int sceKernelWaitEventFlag(SceKernelEventFlag flag, uint64_t bits, uint32_t mode, uint64_t* seen, uint32_t* timeout_us);

SCE_END
