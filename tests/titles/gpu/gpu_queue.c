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
  gpu->bytes = (bytes + 2 * COMMAND_BYTES + LABEL_BYTES + PAGE - 1) / PAGE * PAGE;
  int64_t physical = 0;
  error = sceKernelAllocateMainDirectMemory(gpu->bytes, PAGE, SCE_KERNEL_WB_ONION, &physical);
  if (error) return error;
  void* address = 0;
  error = sceKernelMapDirectMemory(&address, gpu->bytes, SCE_KERNEL_PROT_ALL_RW, 0, physical, PAGE);
  if (error) return error;
  gpu->memory = address;
  gpu->label = (volatile unsigned*)(gpu->memory + 2 * COMMAND_BYTES);
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

void gpu_release_all(struct gpu_queue* gpu) { gpu->used = 2 * COMMAND_BYTES + LABEL_BYTES; }

enum gpu_wait gpu_wait_for(const struct gpu_queue* gpu, unsigned fence, unsigned seconds) {
  uint64_t end = sceKernelGetProcessTime() + seconds * 1000000ull;
  // Guest time may stand still (logical clock), so that the number of polls is limited too.
  for (uint64_t polls = seconds * 20000ull; (int)(*gpu->label - fence) < 0; polls--) {
    if (polls == 0 || sceKernelGetProcessTime() > end) return GPU_NO_ANSWER;
    sceKernelUsleep(50);
  }
  return GPU_DONE;
}

enum gpu_wait gpu_begin(struct gpu_queue* gpu, unsigned seconds) {
  gpu->turn ^= 1;
  if (gpu_wait_for(gpu, gpu->turns[gpu->turn], seconds) != GPU_DONE) return GPU_NO_ANSWER;
  gpu->packets = (struct packet_writer){.words = (unsigned*)(void*)(gpu->memory + gpu->turn * COMMAND_BYTES),
                                        .capacity = COMMAND_BYTES / 4};
  write_acquire(&gpu->packets);
  return GPU_DONE;
}

int gpu_flip(struct gpu_queue* gpu, int video, int buffer, long argument) {
  struct packet_writer* w = &gpu->packets;
  SceAgcCommandBuffer cb = {.begin = w->words, .cursor = w->words + w->count};
  cb.end = cb.limit = w->words + w->capacity;
  if (!sceAgcDcbSetFlip(&cb, (uint32_t)video, buffer, 1, argument)) return -1;
  w->count = (unsigned)(cb.cursor - cb.begin);
  return 0;
}

int gpu_submit(struct gpu_queue* gpu) {
  gpu->turns[gpu->turn] = ++gpu->fence;
  write_fence(&gpu->packets, gpu->label, gpu->fence);
  write_padding(&gpu->packets, PADDING);
  if (gpu->packets.overflow) return -1;
  SceAgcSubmission submission = {.gpu_address = (uint64_t)gpu->packets.words, .dwords = gpu->packets.count};
  return sceAgcDriverSubmitCommandBuffer(gpu->queue, &submission);
}

enum gpu_wait gpu_wait(struct gpu_queue* gpu, unsigned seconds) { return gpu_wait_for(gpu, gpu->fence, seconds); }
