// Direct and flexible memory, and the heap.
#include <kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

#define CHECK(what)                             \
  do {                                          \
    if (!(what)) {                              \
      printf("line %d: %s\n", __LINE__, #what); \
      return 2;                                 \
    }                                           \
  } while (0)
enum { kPage = 0x4000 };

static int direct(const char* a) {
  (void)a;
  const size_t size = 32u << 20;
  int64_t physical = -1;
  CHECK(sceKernelGetDirectMemorySize() > size);
  CHECK(sceKernelAllocateMainDirectMemory(size, 2u << 20, SCE_KERNEL_WC_GARLIC, &physical) == 0);
  CHECK(physical >= 0 && physical % (2 << 20) == 0);
  void* address = 0;
  CHECK(sceKernelMapNamedDirectMemory(&address, size, SCE_KERNEL_PROT_ALL_RW, 0, physical, 2u << 20, "frames") == 0);
  CHECK((uintptr_t)address % (2u << 20) == 0 && (uintptr_t)address < (1ull << 40));
  void* alias = 0;
  CHECK(sceKernelMapDirectMemory(&alias, kPage, SCE_KERNEL_PROT_CPU_RW, 0, physical + kPage, 0) == 0);
  ((volatile int*)address)[kPage / 4] = 77;
  CHECK(*(volatile int*)alias == 77);
  SceKernelVirtualQueryInfo info;
  CHECK(sceKernelVirtualQuery((char*)address + 100, 0, &info, sizeof info) == 0);
  CHECK(info.start == address && info.offset == physical && info.protection == SCE_KERNEL_PROT_ALL_RW);
  CHECK(info.memory_type == SCE_KERNEL_WC_GARLIC && strcmp(info.name, "frames") == 0 && (info.flags & 2) != 0);
  // A batch of 2 MiB pages where the title wants them.
  SceKernelBatchMapEntry entries[4];
  for (int i = 0; i < 4; ++i) {
    entries[i] = (SceKernelBatchMapEntry){(void*)(0x4000000000ull + (uint64_t)i * (2u << 20)),
                                          physical + (int64_t)i * (2 << 20),
                                          2u << 20,
                                          SCE_KERNEL_PROT_ALL_RW,
                                          0,
                                          0,
                                          SCE_KERNEL_MAP_OP_MAP_DIRECT};
  }
  int done = 0;
  CHECK(sceKernelBatchMap(entries, 4, &done) == 0 && done == 4);
  CHECK(((volatile int*)0x4000000000ull)[kPage / 4] == 77);
  CHECK(sceKernelReleaseDirectMemory(physical, size) == 0);
  CHECK(sceKernelReleaseDirectMemory(physical, size) != 0);
  CHECK((unsigned)sceKernelAllocateMainDirectMemory(1ull << 45, 0, 0, &physical) == 0x80020023u);
  CHECK((unsigned)sceKernelAllocateMainDirectMemory(100, 0, 0, &physical) == 0x80020016u);
  return puts("direct memory as expected") < 0;
}

static int flexible(const char* a) {
  (void)a;
  void* address = (void*)0x5000000000ull;
  CHECK(sceKernelReserveVirtualRange(&address, 16 * kPage, SCE_KERNEL_MAP_FIXED, 0) == 0);
  void* inside = (char*)address + kPage;
  CHECK(sceKernelMapFlexibleMemory(&inside, kPage, SCE_KERNEL_PROT_CPU_RW, SCE_KERNEL_MAP_FIXED) == 0);
  CHECK(inside == (char*)address + kPage && *(volatile int*)inside == 0);
  *(volatile int*)inside = 5;
  void* again = inside;
  CHECK(sceKernelMapFlexibleMemory(&again, kPage, SCE_KERNEL_PROT_CPU_RW,
                                   SCE_KERNEL_MAP_FIXED | SCE_KERNEL_MAP_NO_OVERWRITE) != 0);
  CHECK(*(volatile int*)inside == 5);
  CHECK(sceKernelMprotect(inside, kPage, SCE_KERNEL_PROT_CPU_READ) == 0 && *(volatile int*)inside == 5);
  CHECK(sceKernelMunmap(inside, kPage) == 0);
  CHECK((unsigned)sceKernelMapFlexibleMemory((void**)8, kPage, 3, 0) == 0x8002000eu);
  return puts("flexible memory as expected") < 0;
}

static int heap(const char* a) {
  (void)a;
  enum { kBlocks = 500 };
  unsigned char* blocks[kBlocks] = {0};
  size_t sizes[kBlocks] = {0};
  unsigned random = 1;
  for (int step = 0; step < 20000; ++step) {
    random = random * 1664525u + 1013904223u;
    const int i = (int)(random >> 8) % kBlocks;
    const size_t size = (random >> 20) % (step % 50 == 0 ? 200000 : 600);
    for (size_t k = 0; k < sizes[i]; k += 37) CHECK(blocks[i][k] == (unsigned char)i);
    if (random & 1) {
      blocks[i] = realloc(blocks[i], size + 1);
    } else {
      free(blocks[i]);
      blocks[i] = size & 1 ? malloc(size + 1) : memalign(64u << (size % 9), size + 1);
    }
    CHECK(blocks[i] != 0 && (uintptr_t)blocks[i] % 16 == 0);
    sizes[i] = size + 1;
    memset(blocks[i], i, sizes[i]);
  }
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  int* zero = calloc(1000, 4);
  for (int i = 0; i < 1000; ++i) CHECK(zero[i] == 0);
  CHECK(calloc(1ull << 40, 1ull << 40) == 0 && malloc(1ull << 50) == 0);
  free(zero);
  free(zero);           // refused by name
  free((void*)0x1234);  // too
  return puts("heap as expected") < 0;
}

const struct Probe memory_probes[] = {{"direct", direct}, {"flexible", flexible}, {"heap", heap}, {0, 0}};
