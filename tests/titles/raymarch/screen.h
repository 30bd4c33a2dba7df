// Two VideoOut buffers in GPU memory, shown in turn.
#ifndef ORRERY_TITLES_RAYMARCH_SCREEN_H
#define ORRERY_TITLES_RAYMARCH_SCREEN_H
#include <kernel.h>
#include <stddef.h>

#include "settings.h"

enum { SCREEN_BUFFERS = 2 };

struct screen {
  int video;
  SceKernelEqueue flips;
  unsigned char* buffers[SCREEN_BUFFERS];
  size_t buffer_bytes;
  unsigned pitch;  // pixels a row when linear, blocks of 128 pixels a row when tiled
};

// 0, or the console's error (what failed was printed).
int open_screen(struct screen* screen, const struct settings* settings);
// Waits until `count` flips are complete.
int wait_for_flips(struct screen* screen, unsigned long count);
int flip(struct screen* screen, unsigned buffer, unsigned long argument);

#endif
