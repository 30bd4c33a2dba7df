#include "probe.h"

#include <stdio.h>
#include <string.h>

static const struct Probe* find(const struct Probe* table, const char* name) {
  for (; table->name != 0; ++table) {
    if (strcmp(table->name, name) == 0) return table;
  }
  return 0;
}

int main(int argc, char** argv) {
  const struct Probe* const tables[] = {fault_probes,   import_probes, syscall_probes,
                                        library_probes, memory_probes, thread_probes};
  if (argc < 2) return 1;
  for (unsigned i = 0; i < sizeof tables / sizeof *tables; ++i) {
    const struct Probe* probe = find(tables[i], argv[1]);
    if (probe != 0) return probe->run(argc > 2 ? argv[2] : "");
  }
  printf("no probe %s\n", argv[1]);
  return 1;
}
