#include "gpu_queue.h"

#include <agc.h>
#include <kernel.h>

enum { COMMAND_BYTES = 64 * 1024, LABEL_BYTES = 256, PAGE = 2 * 1024 * 1024, AGC_VERSION = 13, PADDING = 16 };

int gpu_open(struct gpu_queue* gpu, int queue_type, size_t bytes) {
  *gpu = (struct gpu_queue){0};
  uint32_t state[64] = {0};
  int error = sceAgcInit(state, AGC_VERSION);
  if (error) return error;
  error = sceAgcDriverCreateQueue((uint32_t)queue_type, &gpu->queue, 0);
  if (error) return error;
  gpu->bytes = (bytes + COMMAND_BYTES + LABEL_BYTES + PAGE - 1) / PAGE * PAGE;
  int64_t physical = 0;
  error = sceKernelAllocateMainDirectMemory(gpu->bytes, PAGE, SCE_KERNEL_WB_ONION, &physical);
  if (error) return error;
  void* address = 0;
  error = sceKernelMapDirectMemory(&address, gpu->bytes, SCE_KERNEL_PROT_ALL_RW, 0, physical, PAGE);
  if (error) return error;
  gpu->memory = address;
  gpu->packets = (struct packet_writer){.words = address, .capacity = COMMAND_BYTES / 4};
  gpu->label = (volatile unsigned*)(gpu->memory + COMMAND_BYTES);
  *gpu->label = 0;
  gpu_release_all(gpu);
  return 0;
}

void* gpu_allocate(struct gpu_queue* gpu, size_t bytes) {
  bytes = (bytes + 255) & ~(size_t)255;
  if (bytes > gpu->bytes - gpu->used) return 0;
  void* piece = gpu->memory + gpu->used;
  gpu->used += bytes;
  return piece;
}

void gpu_release_all(struct gpu_queue* gpu) { gpu->used = COMMAND_BYTES + LABEL_BYTES; }

void gpu_begin(struct gpu_queue* gpu) {
  gpu->packets.count = 0;
  gpu->packets.overflow = 0;
  write_acquire(&gpu->packets);
}

int gpu_submit(struct gpu_queue* gpu) {
  write_fence(&gpu->packets, gpu->label, ++gpu->fence);
  write_padding(&gpu->packets, PADDING);
  if (gpu->packets.overflow) return -1;
  SceAgcSubmission submission = {.gpu_address = (uint64_t)gpu->packets.words, .dwords = gpu->packets.count};
  return sceAgcDriverSubmitCommandBuffer(gpu->queue, &submission);
}

enum gpu_wait gpu_wait(struct gpu_queue* gpu, unsigned seconds) {
  uint64_t end = sceKernelGetProcessTime() + seconds * 1000000ull;
  // Guest time may stand still (logical clock), so that the number of polls is limited too.
  for (uint64_t polls = seconds * 20000ull; *gpu->label != gpu->fence; polls--) {
    if (polls == 0 || sceKernelGetProcessTime() > end) return GPU_NO_ANSWER;
    sceKernelUsleep(50);
  }
  return GPU_DONE;
}
