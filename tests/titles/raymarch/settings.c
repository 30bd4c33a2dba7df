#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 16, LARGEST_WIDTH = 3840, LARGEST_HEIGHT = 2160, LINEAR_STEP = 64 };

static const char kUsage[] =
    "usage: raymarch [--frames N] [--size WIDTHxHEIGHT] [--linear] [--gpu-flip] [--hold]\n"
    "An orrery, ray-marched by the GPU into the frame buffer. --frames 0 (default) goes on until the run is ended.\n"
    "--gpu-flip: the GPU flips behind the frame, and the CPU runs a frame ahead; otherwise the CPU waits and flips.\n"
    "--hold: after the last frame, go on showing it until the run is ended.\n"
    "Left stick or arrows: turn and lift the camera. Right stick, L1 and R1: distance. Options: the first view again.";

static int read_size(const char* text, struct settings* out) {
  char* end = 0;
  unsigned long width = strtoul(text, &end, 10);
  if (end == text || *end != 'x') return 0;
  const char* rest = end + 1;
  unsigned long height = strtoul(rest, &end, 10);
  if (end == rest || *end) return 0;
  if (width < SMALLEST || width > LARGEST_WIDTH || height < SMALLEST || height > LARGEST_HEIGHT) return 0;
  out->width = (unsigned)width;
  out->height = (unsigned)height;
  return 1;
}

int read_settings(int argc, char** argv, struct settings* out) {
  *out = (struct settings){.width = 1920, .height = 1080};
  for (int i = 1; i < argc; i++) {
    const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : 0;
    int good = 1;
    if (!strcmp(option, "--linear")) {
      out->linear = 1;
    } else if (!strcmp(option, "--gpu-flip")) {
      out->gpu_flip = 1;
    } else if (!strcmp(option, "--hold")) {
      out->hold = 1;
    } else if (!strcmp(option, "--help")) {
      puts(kUsage);
      exit(0);
    } else if (!strcmp(option, "--frames") && value) {
      char* end = 0;
      out->frames = strtoul(value, &end, 10);
      good = end != value && *end == 0;
      i++;
    } else if (!strcmp(option, "--size") && value) {
      good = read_size(value, out);
      i++;
    } else {
      good = 0;
    }
    if (!good) {
      printf("raymarch: %s %s: not understood (sizes from %ux%u to %ux%u)\n%s\n", option, value ? value : "", SMALLEST,
             SMALLEST, LARGEST_WIDTH, LARGEST_HEIGHT, kUsage);
      return 0;
    }
  }
  if (out->linear && out->width % LINEAR_STEP) {
    printf("raymarch: a linear frame's width is a multiple of %u, not %u\n", LINEAR_STEP, out->width);
    return 0;
  }
  return 1;
}
