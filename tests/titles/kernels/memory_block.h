// The memory of one case: every buffer of its arguments in one block with guard bytes between, so that a store outside
// a buffer shows. The GPU and the CPU get a block each with the same contents (pointers in memory point into the own
// block).
#ifndef ORRERY_TITLES_KERNELS_MEMORY_BLOCK_H
#define ORRERY_TITLES_KERNELS_MEMORY_BLOCK_H
#include <stddef.h>

#include "argument_text.h"
#include "gpu_kernel.h"

enum { GUARD_BYTES = 256, LIST_NODES = 12, TABLE_POINTERS = 16 };

struct block_layout {
  size_t offset[MOST_ARGUMENTS], bytes[MOST_ARGUMENTS];  // of each buffer; bytes 0: a value
  size_t total;
};

void lay_out(const struct argument* arguments, int count, struct block_layout* out);
// Fills a block: guards, inputs from the seed, poison in outputs.
void fill_block(unsigned char* block, const struct argument* arguments, int count, const struct block_layout* layout,
                unsigned long seed);
// Writes the argument block of a dispatch whose buffers lie in `block`. 0: kernel and text do not agree.
int write_arguments(unsigned char* out, const struct gpu_kernel* kernel, const struct argument* arguments, int count,
                    const struct block_layout* layout, const unsigned char* block);

#endif
