// The table of kernels.
#ifndef ORRERY_TITLES_KERNELS_KERNEL_CASES_H
#define ORRERY_TITLES_KERNELS_KERNEL_CASES_H
#include "compare.h"
#include "on_cpu.h"

enum case_set { SET_first, SET_next };
enum case_size { SIZE_SMALL, SIZE_NORMAL, SIZE_LARGE };

struct kernel_case {
  const char* name;
  enum case_set set;
  const struct gpu_kernel *wave32, *wave64;
  work_item on_cpu;
  unsigned n[3];          // by enum case_size
  const char* items;      // work items: "x" or "x,y"; "threads:x": exactly so many, with a partial last group
  const char* arguments;  // argument_text.h
  struct tolerance tolerance;
};

extern const struct kernel_case kCases[];
extern const unsigned kCaseCount;

#endif
