#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kUsage[] =
    "usage: streaming-loop [--variant static|table|wave|group|branch|image|all] [--groups LEAST,MOST] [--large N]\n"
    "                      [--dispatches N] [--small-groups N] [--mib N] [--runs N] [--cycles N] [--share PERCENT]\n"
    "                      [--acquires N] [--ahead N] [--work MS] [--protect] [--check-all] [--times] [--wait SECONDS]\n"
    "Each cycle the CPU rewrites a share of the input's pages, then N dispatches fold the input; `large` of them share it\n"
    "out among themselves. Where the store descriptor comes from is the variant. Results are checked on the CPU.";
static const char* const kVariants[] = {"static", "table", "wave", "group", "branch", "image", "all"};

const char* variant_name(int variant) { return kVariants[variant]; }

static int number(const char* value, unsigned least, unsigned most, unsigned* out) {
  char* end = 0;
  unsigned long parsed = value ? strtoul(value, &end, 10) : 0;
  if (!value || end == value || *end || parsed < least || parsed > most) return 0;
  *out = (unsigned)parsed;
  return 1;
}

static int two_numbers(const char* value, unsigned* least, unsigned* most) {
  char first[16];
  const char* comma = value ? strchr(value, ',') : 0;
  if (!comma || comma - value >= (long)sizeof first) return 0;
  memcpy(first, value, (size_t)(comma - value));
  first[comma - value] = 0;
  return number(first, 1, 65535, least) && number(comma + 1, *least, 65535, most);
}

static int one_of(const char* value, int* out) {
  for (int i = 0; value && i <= VARIANTS; i++)
    if (!strcmp(value, kVariants[i])) {
      *out = i;
      return 1;
    }
  return 0;
}

static int percent(const char* value, double* out) {
  char* end = 0;
  *out = value ? strtod(value, &end) : -1;
  return value && end != value && !*end && *out >= 0 && *out <= 100;
}

int read_settings(int argc, char** argv, struct settings* out) {
  *out = (struct settings){.variant = VARIANT_WAVE, .least_groups = 125, .most_groups = 692, .large = 7,
                           .dispatches = 190, .small_groups = 8, .mib = 42, .runs = 256, .cycles = 8, .share = 10,
                           .acquires = 1, .wait_seconds = 300};
  for (int i = 1; i < argc; i++) {
    const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : 0;
    int known = 1;
    if (!strcmp(option, "--check-all")) {
      out->check_all = 1;
      continue;
    }
    if (!strcmp(option, "--protect")) {
      out->protect = 1;
      continue;
    }
    if (!strcmp(option, "--times")) {
      out->times = 1;
      continue;
    }
    if (!strcmp(option, "--help")) {
      puts(kUsage);
      exit(0);
    }
    if (!strcmp(option, "--variant"))
      known = one_of(value, &out->variant);
    else if (!strcmp(option, "--groups"))
      known = two_numbers(value, &out->least_groups, &out->most_groups);
    else if (!strcmp(option, "--large"))
      known = number(value, 1, 1000, &out->large);
    else if (!strcmp(option, "--dispatches"))
      known = number(value, 1, 1000, &out->dispatches);
    else if (!strcmp(option, "--small-groups"))
      known = number(value, 1, 65535, &out->small_groups);
    else if (!strcmp(option, "--mib"))
      known = number(value, 1, 4096, &out->mib);
    else if (!strcmp(option, "--runs"))
      known = number(value, 1, 4096, &out->runs);
    else if (!strcmp(option, "--cycles"))
      known = number(value, 1, 1000000, &out->cycles);
    else if (!strcmp(option, "--share"))
      known = percent(value, &out->share);
    else if (!strcmp(option, "--acquires"))
      known = number(value, 1, 1000, &out->acquires);
    else if (!strcmp(option, "--ahead"))
      known = number(value, 0, MOST_AHEAD, &out->ahead);
    else if (!strcmp(option, "--work"))
      known = number(value, 0, 10000, &out->work);
    else if (!strcmp(option, "--wait"))
      known = number(value, 1, 100000, &out->wait_seconds);
    else
      known = 0;
    if (!known) {
      printf("streaming-loop: %s %s: not understood\n", option, value ? value : "(nothing)");
      puts(kUsage);
      return 0;
    }
    i++;
  }
  if (out->large > out->dispatches) out->large = out->dispatches;
  if (out->acquires > out->dispatches) out->acquires = out->dispatches;
  return 1;
}
