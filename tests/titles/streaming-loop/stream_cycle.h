// One cycle: its submissions, and the check of what they left.
#ifndef ORRERY_STREAMING_LOOP_CYCLE_H
#define ORRERY_STREAMING_LOOP_CYCLE_H
#include "stream_memory.h"

struct stream {
  const struct settings* settings;
  struct plan plan;
  struct gpu_queue gpu;
  struct stream_memory memory[MOST_AHEAD + 1];  // cycles take turns
  int variant;
};

unsigned salt_of(unsigned cycle, unsigned dispatch);
const struct stream_memory* memory_of(const struct stream* stream, unsigned cycle);
// Submits the cycle's work. 0, or the console's error; -1: the GPU did not answer.
int submit_cycle(struct stream* stream, unsigned cycle);
// Counts words that are not what the CPU folds; describes the first.
unsigned check_cycle(const struct stream* stream, unsigned cycle);

#endif
