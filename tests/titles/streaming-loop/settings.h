// The loop's shape, from the command line.
#ifndef ORRERY_STREAMING_LOOP_SETTINGS_H
#define ORRERY_STREAMING_LOOP_SETTINGS_H

enum { MOST_AHEAD = 3 };
enum variant { VARIANT_STATIC, VARIANT_TABLE, VARIANT_WAVE, VARIANT_GROUP, VARIANT_BRANCH, VARIANT_IMAGE, VARIANTS };

struct settings {
  int variant;  // VARIANTS: all, one after the other
  unsigned least_groups, most_groups, large;  // the large dispatches have from least to most groups, evenly spread
  unsigned dispatches;                        // of a cycle, the large ones among them
  unsigned small_groups;                      // of each of the others
  unsigned mib, runs;  // the input: mebibytes, contiguous for the guest, in so many pieces of physical memory
  unsigned cycles;
  double share;       // percent of the input's pages that the CPU rewrites between cycles
  unsigned acquires;  // submissions that a cycle's dispatches are spread over
  unsigned ahead;     // cycles that the CPU is ahead of the GPU, each in memory of its own
  unsigned work;      // milliseconds of arithmetic that the CPU does each cycle, as a game does
  int protect;        // looks at a cycle's results behind a change of their protection, not behind its fence
  int check_all;      // after every cycle, not only after the last
  int times;          // print each cycle's times
  unsigned wait_seconds;
};

// 0: usage was printed.
int read_settings(int argc, char** argv, struct settings* out);
const char* variant_name(int variant);

#endif
