// The C library's functions as a title sees them.
#include <kernel.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

static int by_list(char* to, size_t size, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(to, size, format, list);
  va_end(list);
  return n;
}

static int print(const char* a) {
  (void)a;
  printf("%d %u %x %lX %lld %hhd %hu|%5d|%-5d|%05d|%+d\n", -1, 4000000000u, 255u, 0xABCDEFul, -(1ll << 40), 200, 70000,
         42, 42, 42, 42);
  printf("%s|%8s|%-8s|%.2s|%c|%%|%p\n", "text", "right", "left", "cut", 'q', (void*)0x1234);
  printf("%f %.3e %g %a|%*d|%.*f\n", 1.5, 12345.678, 0.0001, 1.0, 6, 7, 2, 2.718281828);
  // More than the registers hold: six integers and eight doubles.
  printf("%d %d %d %d %d %d %d %d|%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", 1, 2, 3, 4, 5, 6, 7, 8, 1., 2.,
         3., 4., 5., 6., 7., 8., 9., 10.);
  printf("%d %Lg %d\n", 1, 2.5L, 3);
  char line[16];
  const int n = by_list(line, sizeof line, "%d-%s-%.1f-%d-%d-%d-%d", 1, "two", 3.0, 4, 5, 6, 7);
  printf("%d %s\n", n, line);
  return 0;
}

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
static void at_exit_first(void) { puts("registered first"); }
static void at_exit_last(void) { puts("registered last"); }

static int general(const char* a) {
  (void)a;
  int numbers[257];
  for (int i = 0; i < 257; ++i) numbers[i] = (i * 7919) % 257;
  qsort(numbers, 257, sizeof *numbers, compare);
  int sorted = 1;
  for (int i = 0; i < 257; ++i) sorted &= numbers[i] == i;
  printf("sorted %d, atoi %d, strtol %ld, strtod %.2f\n", sorted, atoi("-17"), strtol("ff", 0, 16), strtod("2.25", 0));
  printf("sinf %.4f pow %.1f fma %.1f\n", (double)sinf(1.0f), pow(2.0, 10.0), fma(2.0, 3.0, 1.0));
  atexit(at_exit_first);
  atexit(at_exit_last);
  *__error() = 7;
  printf("errno %d\n", *__error());
  void* address = 0;
  printf("dlsym %d %d, absent %x\n", sceKernelDlsym(1, "puts", &address), address != 0,
         (unsigned)sceKernelDlsym(1, "noSuchFunction", &address));
  return 0;
}

static int exit_code(const char* a) { return atoi(a); }
static int aborts(const char* a) {
  (void)a;
  abort();
}

const struct Probe library_probes[] = {
    {"print", print}, {"general", general}, {"exit-code", exit_code}, {"abort", aborts}, {0, 0}};
