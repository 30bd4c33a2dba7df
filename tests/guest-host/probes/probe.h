// One probe per word of the command line: each does one thing that the tests look at from outside.
#pragma once

struct Probe {
  const char* name;
  int (*run)(const char* argument);
};
extern const struct Probe fault_probes[];
extern const struct Probe import_probes[];
extern const struct Probe syscall_probes[];
extern const struct Probe library_probes[];
extern const struct Probe memory_probes[];
extern const struct Probe thread_probes[];
