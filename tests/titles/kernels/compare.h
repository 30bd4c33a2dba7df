// Holds what the GPU wrote against what the CPU wrote.
#ifndef ORRERY_TITLES_KERNELS_COMPARE_H
#define ORRERY_TITLES_KERNELS_COMPARE_H
#include "memory_block.h"

struct tolerance {
  double relative, absolute;  // both 0: bit for bit (all NaNs are one)
};

enum outcome { OUTCOME_EQUAL, OUTCOME_DIFFERENT, OUTCOME_REFUSED };

struct comparison {
  enum outcome outcome;
  char difference[160];  // the first one, in words
};

// `gpu` and `cpu` are blocks after the run, `before` is the GPU's block before it. Refused: the outputs are untouched,
// but the CPU changed its own. Inputs and guard bytes must be untouched.
void compare_blocks(const unsigned char* gpu, const unsigned char* cpu, const unsigned char* before,
                    const struct argument* arguments, int count, const struct block_layout* layout,
                    struct tolerance tolerance, struct comparison* out);

#endif
