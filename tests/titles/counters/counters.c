#include "counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct gpu_kernel counters_bound_w32, counters_pointer_w32, counters_append_w64, counters_spin_w32,
    counters_store_w32;

int counters_open(struct counters* c, unsigned steps, unsigned steps_a_round) {
  size_t list = sizeof(unsigned) * steps * APPENDS, arguments = (size_t)steps_a_round * 2 * 2 * DISPATCH_ARGUMENT_BYTES;
  int error = gpu_open(&c->gpu, 0, 2 * sizeof(unsigned) * COUNTERS + list + arguments + 4096);
  if (error) return error;
  c->bound = gpu_allocate(&c->gpu, sizeof(unsigned) * COUNTERS);
  c->pointer = gpu_allocate(&c->gpu, sizeof(unsigned) * COUNTERS);
  c->head = gpu_allocate(&c->gpu, sizeof(unsigned));
  c->histogram = gpu_allocate(&c->gpu, sizeof(unsigned) * BINS);
  c->stop = gpu_allocate(&c->gpu, 4 * sizeof(unsigned));
  c->list = gpu_allocate(&c->gpu, list);
  c->arguments = gpu_allocate(&c->gpu, arguments);
  c->bound_expected = calloc(COUNTERS, sizeof(unsigned));
  c->pointer_expected = calloc(COUNTERS, sizeof(unsigned));
  if (!c->list || !c->arguments || !c->bound_expected || !c->pointer_expected) return -1;
  memset(c->bound, 0, sizeof(unsigned) * COUNTERS);
  memset(c->pointer, 0, sizeof(unsigned) * COUNTERS);
  memset(c->histogram, 0, sizeof(unsigned) * BINS);
  memset(c->list, 0xff, list);
  memset(c->stop, 0, 4 * sizeof(unsigned));
  *c->head = 0;
  return 0;
}

static void put(unsigned char* at, const void* value, size_t bytes) { memcpy(at, value, bytes); }

static void dispatch(struct counters* c, const struct gpu_kernel* kernel, const unsigned char* arguments,
                     unsigned char* memory, unsigned lanes) {
  struct dispatch d = {.kernel = kernel, .arguments = arguments, .group_size = {LANES_A_GROUP, 1, 1},
                       .groups = {lanes / LANES_A_GROUP, 1, 1}, .memory = memory};
  write_dispatch(&c->gpu.packets, &d);
}

static void write_step(struct counters* c, unsigned char* memory) {
  unsigned tag = c->tag;
  unsigned char arguments[DISPATCH_ARGUMENT_BYTES] = {0};
  unsigned descriptor[4] = {(unsigned)(size_t)c->bound, (unsigned)((size_t)c->bound >> 32), sizeof(unsigned) * COUNTERS,
                            22u << 12 | 3u << 28};
  const struct gpu_kernel* kernel = &counters_bound_w32;
  put(arguments + kernel->arguments[0].offset, descriptor, 16);
  put(arguments + kernel->arguments[1].offset, &tag, 4);
  dispatch(c, kernel, arguments, 0, COUNTERS);

  memset(arguments, 0, sizeof arguments);
  kernel = &counters_pointer_w32;
  put(arguments + kernel->arguments[0].offset, &c->pointer, 8);
  put(arguments + kernel->arguments[1].offset, &tag, 4);
  dispatch(c, kernel, arguments, memory, COUNTERS);

  memset(arguments, 0, sizeof arguments);
  kernel = &counters_append_w64;
  put(arguments + kernel->arguments[0].offset, &c->head, 8);
  put(arguments + kernel->arguments[1].offset, &c->list, 8);
  put(arguments + kernel->arguments[2].offset, &c->histogram, 8);
  put(arguments + kernel->arguments[3].offset, &tag, 4);
  dispatch(c, kernel, arguments, memory + DISPATCH_ARGUMENT_BYTES, APPENDS);
}

static void step_on_cpu(struct counters* c) {
  for (unsigned i = 0; i < COUNTERS; i++) {
    c->bound_expected[i] = c->bound_expected[i] * 3u + c->tag;
    c->pointer_expected[i] = (c->pointer_expected[i] ^ c->tag) * 16777619u;
  }
  for (unsigned i = 0; i < APPENDS; i++) c->histogram_expected[(i * 7u + c->tag) % BINS] += c->tag + 1u;
}

int counters_submit(struct counters* c, unsigned steps, unsigned seconds) {
  if (gpu_begin(&c->gpu, seconds) != GPU_DONE) return -1;
  // The two command buffers' arguments lie apart.
  unsigned char* memory = c->arguments + (size_t)c->gpu.turn * steps * 2 * DISPATCH_ARGUMENT_BYTES;
  for (unsigned i = 0; i < steps; i++) {
    write_step(c, memory + (size_t)i * 2 * DISPATCH_ARGUMENT_BYTES);
    step_on_cpu(c);
    c->tag++;
  }
  return gpu_submit(&c->gpu);
}

int counters_poison(struct counters* c, unsigned seconds) {
  unsigned char* memory = gpu_allocate(&c->gpu, DISPATCH_ARGUMENT_BYTES);
  if (!memory || gpu_begin(&c->gpu, seconds) != GPU_DONE) return -1;
  unsigned char arguments[DISPATCH_ARGUMENT_BYTES] = {0};
  put(arguments + counters_spin_w32.arguments[0].offset, &c->stop, 8);
  // Many groups: a driver that ends loops by itself needs long for them too.
  dispatch(c, &counters_spin_w32, arguments, memory, 60000u * LANES_A_GROUP);
  return gpu_submit(&c->gpu);
}

int counters_store(struct counters* c, unsigned seconds) {
  if (gpu_begin(&c->gpu, seconds) != GPU_DONE) return -1;
  unsigned char arguments[DISPATCH_ARGUMENT_BYTES] = {0};
  unsigned rounds = 60000;
  unsigned descriptor[4] = {(unsigned)(size_t)c->bound, (unsigned)((size_t)c->bound >> 32), sizeof(unsigned) * COUNTERS,
                            22u << 12 | 3u << 28};
  put(arguments + counters_store_w32.arguments[0].offset, descriptor, 16);
  put(arguments + counters_store_w32.arguments[1].offset, &rounds, 4);
  dispatch(c, &counters_store_w32, arguments, 0, 60000u * LANES_A_GROUP);
  int error = gpu_submit(&c->gpu);
  return error ? error : gpu_wait(&c->gpu, seconds) == GPU_DONE ? 0 : -1;
}

static unsigned wrong_in(const char* what, const unsigned* got, const unsigned* expected, unsigned count) {
  unsigned wrong = 0;
  for (unsigned i = 0; i < count; i++) {
    if (got[i] == expected[i]) continue;
    if (wrong++ == 0) printf("counters: %s %u is %08x instead of %08x\n", what, i, got[i], expected[i]);
  }
  return wrong;
}

static int by_value(const void* a, const void* b) {
  unsigned x = *(const unsigned*)a, y = *(const unsigned*)b;
  return (x > y) - (x < y);
}

static unsigned wrong_appends(const struct counters* c) {
  unsigned count = c->tag * APPENDS, wrong = 0;
  if (*c->head != count) {
    printf("counters: %u values were appended instead of %u\n", *c->head, count);
    return 1;
  }
  unsigned* sorted = malloc(sizeof *sorted * count);
  if (!sorted) return 1;
  memcpy(sorted, c->list, sizeof *sorted * count);
  qsort(sorted, count, sizeof *sorted, by_value);
  for (unsigned i = 0; i < count; i++) {
    unsigned expected = i / APPENDS * 65536u + i % APPENDS;
    if (sorted[i] == expected) continue;
    if (wrong++ == 0) printf("counters: appended value %u is %08x instead of %08x\n", i, sorted[i], expected);
  }
  free(sorted);
  return wrong;
}

unsigned counters_check(const struct counters* c) {
  unsigned histogram[BINS];
  for (int i = 0; i < BINS; i++) histogram[i] = (unsigned)c->histogram_expected[i];
  return wrong_in("counter", c->bound, c->bound_expected, COUNTERS) +
         wrong_in("counter behind a pointer", c->pointer, c->pointer_expected, COUNTERS) +
         wrong_in("bin", c->histogram, histogram, BINS) + wrong_appends(c);
}
