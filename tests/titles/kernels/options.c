#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kUsage[] =
    "usage: kernels [--only NAME] [--seed N] [--size small|normal|large] [--wave 32|64|both] [--queue "
    "graphics|compute]\n"
    "               [--all] [--list] [--wait SECONDS]\n"
    "Runs each kernel on the GPU and, from the same source, on the CPU, and compares what they wrote.\n"
    "--all takes the kernels of the next step too, in both wave widths.";

static int choose(const char* value, const char* const* names, int count) {
  for (int i = 0; value && i < count; i++)
    if (!strcmp(value, names[i])) return i;
  return -1;
}

static int wrong(const char* option, const char* value) {
  printf("kernels: %s %s: not understood\n", option, value ? value : "(nothing)");
  puts(kUsage);
  return 0;
}

int read_options(int argc, char** argv, struct options* out) {
  static const char* const kSizes[] = {"small", "normal", "large"};
  static const char* const kWaves[] = {"32", "64", "both"};
  static const char* const kQueues[] = {"graphics", "compute"};
  *out = (struct options){.seed = 1, .size = SIZE_NORMAL, .wave32 = 1, .wait_seconds = 300};
  int wave = -1;
  for (int i = 1; i < argc; i++) {
    const char* option = argv[i];
    if (!strcmp(option, "--all")) {
      out->all = 1;
    } else if (!strcmp(option, "--list")) {
      out->list = 1;
    } else if (!strcmp(option, "--help")) {
      puts(kUsage);
      exit(0);
    } else {
      const char* value = i + 1 < argc ? argv[++i] : 0;
      int chosen = 0;
      char* end = 0;
      if (!strcmp(option, "--only")) {
        out->only = value;
        chosen = value ? 0 : -1;
      } else if (!strcmp(option, "--seed") || !strcmp(option, "--wait")) {
        unsigned long number = value ? strtoul(value, &end, 10) : 0;
        if (!value || end == value || *end) chosen = -1;
        if (option[2] == 's')
          out->seed = number;
        else
          out->wait_seconds = (unsigned)number;
      } else if (!strcmp(option, "--size")) {
        out->size = (enum case_size)(chosen = choose(value, kSizes, 3));
      } else if (!strcmp(option, "--wave")) {
        wave = chosen = choose(value, kWaves, 3);
      } else if (!strcmp(option, "--queue")) {
        chosen = choose(value, kQueues, 2);
        out->queue_type = chosen == 1 ? 3 : 0;
      } else {
        chosen = -1;
      }
      if (chosen < 0) return wrong(option, value);
    }
  }
  if (wave < 0) wave = out->all ? 2 : 0;
  out->wave32 = wave != 1;
  out->wave64 = wave != 0;
  return 1;
}
