// The memory that the GPU changes in place, and what it must be.
#ifndef ORRERY_TITLES_COUNTERS_H
#define ORRERY_TITLES_COUNTERS_H
#include "gpu_queue.h"

enum { COUNTERS = 4096, APPENDS = 512, BINS = 61, LANES_A_GROUP = 64 };

struct counters {
  struct gpu_queue gpu;
  unsigned *bound, *pointer, *head, *list, *histogram;  // the GPU's
  unsigned* stop;                                       // what the endless dispatch looks at
  unsigned char* arguments;                             // of each dispatch of a submission
  unsigned steps, tag;                                  // steps done so far
  unsigned *bound_expected, *pointer_expected;
  unsigned long long histogram_expected[BINS];
};

// 0, or the console's error. `steps`: the most that will ever run.
int counters_open(struct counters* c, unsigned steps, unsigned steps_a_round);
// Submits that many steps, three dispatches each, in one submission, and does the same on the CPU. 0, or an error; -1: no answer.
int counters_submit(struct counters* c, unsigned steps, unsigned seconds);
// Submits a dispatch that never ends. The steps behind it must not suffer.
int counters_poison(struct counters* c, unsigned seconds);
// Stores for a long time, and waits until it is over. Nothing is checked afterwards.
int counters_store(struct counters* c, unsigned seconds);
// Compares after the GPU is done; answers how many values are wrong, and says the first.
unsigned counters_check(const struct counters* c);

#endif
