#include "kernel_cases.h"

#define CASE(name, ...)                                  \
  extern const struct gpu_kernel name##_w32, name##_w64; \
  void name##_on_cpu(const unsigned char*);
#include "cases.inc"
#undef CASE

#define EXACT {0, 0}
#define RELATIVE(relative, absolute) {relative, absolute}
#define CASE(name, set, small, normal, large, items, arguments, tolerance) \
  {#name, SET_##set, &name##_w32, &name##_w64, name##_on_cpu, {small, normal, large}, items, arguments, tolerance},
const struct kernel_case kCases[] = {
#include "cases.inc"
};
const unsigned kCaseCount = sizeof kCases / sizeof kCases[0];
