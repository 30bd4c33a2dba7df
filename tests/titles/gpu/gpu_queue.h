// A queue, memory that CPU and GPU share, and a fence: what a title needs to run dispatches.
#ifndef ORRERY_TITLES_GPU_QUEUE_H
#define ORRERY_TITLES_GPU_QUEUE_H
#include <stddef.h>

#include "dispatch.h"

struct gpu_queue {
  void* queue;
  unsigned char* memory;
  size_t bytes, used;
  struct packet_writer packets;
  volatile unsigned* label;
  unsigned fence;     // value of the newest fence
  unsigned turn;      // which of the two command buffers is written
  unsigned turns[2];  // the newest fence of each
};

enum gpu_wait { GPU_DONE, GPU_NO_ANSWER };

// Opens a graphics (0) or compute (3) queue and maps `bytes` of direct memory. 0, or the console's error.
int gpu_open(struct gpu_queue* gpu, int queue_type, size_t bytes);
// 256-byte aligned pieces of the memory, null when it is used up. gpu_release_all takes everything back.
void* gpu_allocate(struct gpu_queue* gpu, size_t bytes);
void gpu_release_all(struct gpu_queue* gpu);
// Begins a command buffer with an acquire; write packets to gpu->packets; then submits it with a fence behind. There
// are two, used in turn: gpu_begin waits until the GPU is done with the one it takes.
enum gpu_wait gpu_begin(struct gpu_queue* gpu, unsigned seconds);
// Writes the flip of a registered VideoOut buffer into the command buffer. 0, or -1 when the console refuses it.
int gpu_flip(struct gpu_queue* gpu, int video, int buffer, long argument);
int gpu_submit(struct gpu_queue* gpu);
// Waits for the newest fence; for an earlier one, as gpu->fence was behind its gpu_submit.
enum gpu_wait gpu_wait(struct gpu_queue* gpu, unsigned seconds);
enum gpu_wait gpu_wait_for(const struct gpu_queue* gpu, unsigned fence, unsigned seconds);

#endif
