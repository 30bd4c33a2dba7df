// kernels: runs compute kernels on the GPU and the same sources on the CPU, and compares the memory they leave.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_queue.h"
#include "options.h"

enum { MOST_BLOCK_BYTES = 192 << 20, EXIT_DIFFERENT = 1, EXIT_USAGE = 2, EXIT_NO_GPU = 3, EXIT_NO_ANSWER = 4 };

struct totals {
  unsigned equal, different, refused;
};

struct prepared {
  struct argument arguments[MOST_ARGUMENTS];
  int count;
  struct block_layout layout;
  unsigned group_size[3], groups[3], threads[3];
  unsigned elements;
};

static int prepare(const struct kernel_case* c, enum case_size size, struct prepared* p) {
  double n = c->n[size];
  p->elements = c->n[size];
  p->count = parse_arguments(c->arguments, n, p->arguments);
  if (p->count < 0) return 0;
  lay_out(p->arguments, p->count, &p->layout);
  static const char kByThreads[] = "threads:";
  const char* text = c->items;
  int by_threads = !strncmp(text, kByThreads, sizeof kByThreads - 1);
  if (by_threads) text += sizeof kByThreads - 1;
  for (int i = 0; i < 3; i++) {
    unsigned items = 1;
    if (*text) items = (unsigned)evaluate(&text, n);
    if (*text == ',') {
      text++;
      p->elements *= i == 0 ? c->n[size] : 1;
    }
    p->threads[i] = by_threads ? items : 0;
    p->group_size[i] = c->wave32->group_size[i];
    p->groups[i] = (items + p->group_size[i] - 1) / p->group_size[i];
  }
  return 1;
}

static void print_line(const struct kernel_case* c, const struct gpu_kernel* kernel, const struct prepared* p,
                       const struct comparison* r) {
  static const char* const kOutcomes[] = {"equal", "different", "refused"};
  printf("%-16s wave%u %9u elements  %s", c->name, kernel->wave, p->elements, kOutcomes[r->outcome]);
  if (c->tolerance.relative > 0 || c->tolerance.absolute > 0)
    printf(" (within %.1g relative + %.1g)", c->tolerance.relative, c->tolerance.absolute);
  if (r->outcome == OUTCOME_DIFFERENT) printf(": %s", r->difference);
  if (r->outcome == OUTCOME_REFUSED) printf(": the fence came, the outputs are untouched");
  printf("\n");
}

static void run_cpu(const struct kernel_case* c, const struct gpu_kernel* kernel, const struct prepared* p,
                    const unsigned char* block) {
  unsigned char arguments[DISPATCH_ARGUMENT_BYTES] = {0};
  if (write_arguments(arguments, kernel, p->arguments, p->count, &p->layout, block))
    run_on_cpu(c->on_cpu, arguments, p->group_size, p->groups, p->threads[0], kernel->wave);
}

// 0, or the exit code that ends the run.
static int run_gpu(struct gpu_queue* gpu, const struct options* options, const struct gpu_kernel* kernel,
                   const struct prepared* p, const unsigned char* block) {
  unsigned char arguments[DISPATCH_ARGUMENT_BYTES] = {0};
  struct dispatch d = {.kernel = kernel, .arguments = arguments};
  memcpy(d.group_size, p->group_size, sizeof d.group_size);
  memcpy(d.groups, p->groups, sizeof d.groups);
  memcpy(d.threads, p->threads, sizeof d.threads);
  d.memory = gpu_allocate(gpu, DISPATCH_ARGUMENT_BYTES);
  if (dispatch_scratch_bytes(&d)) d.scratch = gpu_allocate(gpu, dispatch_scratch_bytes(&d));
  if (!d.memory || (dispatch_scratch_bytes(&d) && !d.scratch)) {
    printf("kernels: %s: the GPU memory is too small\n", kernel->name);
    return EXIT_NO_GPU;
  }
  if (!write_arguments(arguments, kernel, p->arguments, p->count, &p->layout, block)) {
    printf("kernels: %s: the table's arguments are not the kernel's\n", kernel->name);
    return EXIT_USAGE;
  }
  if (gpu_begin(gpu, options->wait_seconds) == GPU_DONE) write_dispatch(&gpu->packets, &d);
  int error = gpu_submit(gpu);
  if (error) {
    printf("kernels: %s: the submission was not accepted (0x%08x)\n", kernel->name, (unsigned)error);
    return EXIT_NO_GPU;
  }
  if (gpu_wait(gpu, options->wait_seconds) == GPU_DONE) return 0;
  printf("kernels: %s: no fence after %u s\n", kernel->name, options->wait_seconds);
  return EXIT_NO_ANSWER;
}

static int run_case(struct gpu_queue* gpu, const struct options* options, const struct kernel_case* c,
                    struct totals* totals) {
  struct prepared p;
  if (!prepare(c, options->size, &p)) {
    printf("kernels: %s: the table's arguments are not understood\n", c->name);
    return EXIT_USAGE;
  }
  // Aligned as GPU memory is: a T# counts in 256 bytes.
  unsigned char *cpu = memalign(256, p.layout.total), *before = malloc(p.layout.total);
  if (!cpu || !before) {
    printf("kernels: %s: out of memory\n", c->name);
    return EXIT_NO_GPU;
  }
  int code = 0;
  for (int wave = 0; wave < 2 && !code; wave++) {
    if (wave == 0 ? !options->wave32 : !options->wave64) continue;
    const struct gpu_kernel* kernel = wave == 0 ? c->wave32 : c->wave64;
    gpu_release_all(gpu);
    unsigned char* block = gpu_allocate(gpu, p.layout.total);
    if (!block) {
      printf("kernels: %s: needs %zu bytes of GPU memory\n", c->name, p.layout.total);
      code = EXIT_NO_GPU;
      break;
    }
    fill_block(block, p.arguments, p.count, &p.layout, options->seed);
    memcpy(before, block, p.layout.total);
    fill_block(cpu, p.arguments, p.count, &p.layout, options->seed);
    run_cpu(c, kernel, &p, cpu);
    code = run_gpu(gpu, options, kernel, &p, block);
    if (code) break;
    struct comparison result;
    compare_blocks(block, cpu, before, p.arguments, p.count, &p.layout, c->tolerance, &result);
    print_line(c, kernel, &p, &result);
    totals->equal += result.outcome == OUTCOME_EQUAL;
    totals->different += result.outcome == OUTCOME_DIFFERENT;
    totals->refused += result.outcome == OUTCOME_REFUSED;
  }
  free(cpu);
  free(before);
  return code;
}

static void list_cases(void) {
  for (unsigned i = 0; i < kCaseCount; i++)
    printf("%-16s %-5s n = %u, %u, %u  %s\n", kCases[i].name, kCases[i].set == SET_next ? "next" : "", kCases[i].n[0],
           kCases[i].n[1], kCases[i].n[2], kCases[i].arguments);
}

int main(int argc, char** argv) {
  struct options options;
  if (!read_options(argc, argv, &options)) return EXIT_USAGE;
  if (options.list) {
    list_cases();
    return 0;
  }
  struct gpu_queue gpu;
  int error = gpu_open(&gpu, options.queue_type, MOST_BLOCK_BYTES);
  if (error) {
    printf("kernels: no GPU queue or memory (0x%08x)\n", (unsigned)error);
    return EXIT_NO_GPU;
  }
  struct totals totals = {0, 0, 0};
  int code = 0, found = 0;
  for (unsigned i = 0; i < kCaseCount && !code; i++) {
    const struct kernel_case* c = &kCases[i];
    if (options.only ? strcmp(options.only, c->name) != 0 : c->set == SET_next && !options.all) continue;
    found = 1;
    code = run_case(&gpu, &options, c, &totals);
  }
  if (!found) {
    printf("kernels: there is no kernel \"%s\"; --list names them\n", options.only);
    return EXIT_USAGE;
  }
  printf("kernels: %u equal, %u different, %u refused\n", totals.equal, totals.different, totals.refused);
  return code ? code : totals.different || totals.refused ? EXIT_DIFFERENT : 0;
}
