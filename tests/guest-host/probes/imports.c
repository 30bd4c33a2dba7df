// Imports that nobody implements.
#include <stdint.h>
#include <stdio.h>

#include "probe.h"

int sceKernelGetCpumode(void);
int orreryUnknownFunction(int a);
int orreryWeakFunction(void) __attribute__((weak));

static int unresolved(const char* a) {
  (void)a;
  for (int i = 0; i < 3; ++i) printf("known %x\n", (unsigned)sceKernelGetCpumode());
  printf("unknown %x\n", (unsigned)orreryUnknownFunction(1));
  return 0;
}
static int weak(const char* a) { return (void)a, printf("weak %s\n", orreryWeakFunction ? "there" : "null"), 0; }

const struct Probe import_probes[] = {{"unresolved", unresolved}, {"weak", weak}, {0, 0}};
