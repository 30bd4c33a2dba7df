#ifndef ORRERY_TITLES_RAYMARCH_SETTINGS_H
#define ORRERY_TITLES_RAYMARCH_SETTINGS_H

struct settings {
  unsigned width, height;
  unsigned long frames;  // 0: until the run is ended
  int linear;
  int hold;  // after the last frame, show it until the run is ended
  int gpu_flip;  // the flip is a packet behind the dispatch, so that the CPU runs a frame ahead; else the CPU flips
};

// 0 when the arguments are wrong (what is wrong was printed).
int read_settings(int argc, char** argv, struct settings* out);

#endif
