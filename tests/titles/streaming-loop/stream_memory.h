// The loop's memory: the input in scattered physical pieces, outputs and descriptor tables in one.
#ifndef ORRERY_STREAMING_LOOP_MEMORY_H
#define ORRERY_STREAMING_LOOP_MEMORY_H
#include "gpu_queue.h"
#include "settings.h"

enum { LANES = 32, GROUP_WAVES = 4, PAGE_BYTES = 4096 };

struct plan {
  unsigned groups[1000];     // of each dispatch of a cycle
  unsigned first_in[1000];   // wave that its first wave reads as
  unsigned first_out[1000];  // ... and stores as
  unsigned in_waves, out_waves, words;  // words: that a lane folds
};
struct stream_memory {
  unsigned* input;  // all of it; in_waves * words * 32 are folded
  size_t input_bytes;
  unsigned* output;  // 32 words a wave
  unsigned* table;   // descriptors of four words: the whole output twice, then one for each wave (and the next three)
  unsigned* images;  // descriptors of eight words: a row of texels for each group
};

void make_plan(const struct settings* s, struct plan* plan);
// Bytes that gpu_open must provide.
size_t shared_bytes(const struct plan* plan);
// 0, or the console's error.
int make_memory(const struct settings* s, const struct plan* plan, struct gpu_queue* gpu, struct stream_memory* out);
// A raw buffer descriptor.
void fill_descriptor(unsigned* words, const void* base, size_t bytes);
// The pages of the outputs get the protection that they have: behind it the GPU has written what it was asked to.
void protect_output(const struct plan* plan, const struct stream_memory* memory);
// What the CPU writes between cycles; answers the pages it rewrote.
unsigned rewrite_input(const struct settings* s, const struct stream_memory* m, unsigned cycle);

#endif
