#ifndef ORRERY_TITLES_KERNELS_OPTIONS_H
#define ORRERY_TITLES_KERNELS_OPTIONS_H
#include "kernel_cases.h"

struct options {
  const char* only;  // null: every kernel of the set
  unsigned long seed;
  enum case_size size;
  int all, list;
  int wave32, wave64;
  int queue_type;  // 0 graphics, 3 compute
  unsigned wait_seconds;
};

// 0 when the arguments are wrong (what is wrong was printed).
int read_options(int argc, char** argv, struct options* out);

#endif
