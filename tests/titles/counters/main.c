// counters: rounds of work in place on the GPU, the same on the CPU, compared at the end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { EXIT_DIFFERENT = 1, EXIT_USAGE = 2, EXIT_NO_GPU = 3, EXIT_NO_ANSWER = 4 };

static int number(const char* value, unsigned most, unsigned* out) {
  char* end = 0;
  unsigned long parsed = value ? strtoul(value, &end, 10) : 0;
  if (!value || end == value || *end || parsed < 1 || parsed > most) return 0;
  *out = (unsigned)parsed;
  return 1;
}

int main(int argc, char** argv) {
  static struct counters counters;
  unsigned rounds = 40, steps = 4, seconds = 300;
  int poison = 0, store = 0;
  for (int i = 1; i < argc; i += 2) {
    if (!strcmp(argv[i], "--poison")) {
      poison = 1;
      i--;
      continue;
    }
    if (!strcmp(argv[i], "--store")) {
      store = 1;
      i--;
      continue;
    }
    const char* value = i + 1 < argc ? argv[i + 1] : 0;
    int known = !strcmp(argv[i], "--rounds")  ? number(value, 100000, &rounds)
                : !strcmp(argv[i], "--steps") ? number(value, 100, &steps)
                : !strcmp(argv[i], "--wait")  ? number(value, 100000, &seconds)
                                              : 0;
    if (known) continue;
    printf("usage: counters [--rounds N] [--steps N] [--poison] [--store] [--wait SECONDS]\n"
           "Each round is one submission of so many steps: %d counters bound, %d behind a pointer, %d appends.\n",
           COUNTERS, COUNTERS, APPENDS);
    return !strcmp(argv[i], "--help") ? 0 : EXIT_USAGE;
  }
  int error = rounds * steps > 60000 ? -1 : counters_open(&counters, rounds * steps, steps);
  if (error) {
    printf("counters: no GPU queue or memory (0x%08x)\n", (unsigned)error);
    return EXIT_NO_GPU;
  }
  if (store) {
    printf("storing\n");
    error = counters_store(&counters, seconds);
    printf("counters: stored (%d)\n", error);
    return error ? EXIT_NO_ANSWER : 0;
  }
  for (unsigned round = 0; round < rounds; round++) {
    if (poison && round == rounds / 2) error = counters_poison(&counters, seconds);
    if (!error) error = counters_submit(&counters, steps, seconds);
    if (error) break;
    // Progress, for who looks on.
    if (round % 10 == 9) printf("round %u\n", round + 1);
  }
  if (error > 0 || error < -1) {
    printf("counters: a submission was not accepted (0x%08x)\n", (unsigned)error);
    return EXIT_NO_GPU;
  }
  if (error || gpu_wait(&counters.gpu, seconds) != GPU_DONE) {
    printf("counters: no fence after %u s\n", seconds);
    return EXIT_NO_ANSWER;
  }
  unsigned wrong = counters_check(&counters);
  printf("counters: %u steps, %u values wrong\n", rounds * steps, wrong);
  return wrong ? EXIT_DIFFERENT : 0;
}
