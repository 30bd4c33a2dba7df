// streaming-loop: cycles of many dispatches over memory that the CPU rewrites between them.
#include <kernel.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream_cycle.h"

enum { EXIT_DIFFERENT = 1, EXIT_USAGE = 2, EXIT_NO_GPU = 3, EXIT_NO_ANSWER = 4 };

struct times {
  double rewrite, submit, wait;  // microseconds
};

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Median of a column; the first cycle, in which everything is new, is left out where there are others.
static double median(const struct times* all, unsigned count, int column) {
  double* sorted = malloc(sizeof *sorted * count);
  unsigned first = count > 1, n = 0;
  if (!sorted) return 0;
  for (unsigned i = first; i < count; i++)
    sorted[n++] = column == 0 ? all[i].rewrite : column == 1 ? all[i].submit : all[i].wait;
  qsort(sorted, n, sizeof *sorted, by_value);
  double middle = sorted[n / 2];
  free(sorted);
  return middle;
}

static double now(void) {
  return (double)sceKernelReadTsc() / (double)sceKernelGetTscFrequency() * 1e6;
}

static void work(unsigned milliseconds) {
  static volatile unsigned result;
  double end = now() + milliseconds * 1e3;
  unsigned value = result;
  while (now() < end)
    for (int i = 0; i < 10000; i++) value = value * 16777619u + 1;
  result = value;
}

static int no_answer(const struct settings* settings) {
  printf("streaming-loop: no fence after %u s\n", settings->wait_seconds);
  return EXIT_NO_ANSWER;
}

static int run_variant(struct stream* s, struct times* times, unsigned first_cycle) {
  const struct settings* settings = s->settings;
  unsigned wrong = 0, pages = 0, fences[MOST_AHEAD + 1] = {0};
  double begun = 0, waited = 0;  // since the first cycle that is seen done, in which everything is new
  // The CPU is `ahead` cycles in front of the one that it waits for and looks at.
  for (unsigned n = 0; n < settings->cycles + settings->ahead; n++) {
    double begin = now(), rewritten = begin, submitted = begin, worked = begin;
    unsigned cycle = first_cycle + n, slot = cycle % (settings->ahead + 1);
    if (n == settings->ahead + 1) begun = begin;
    if (n < settings->cycles) {
      pages += rewrite_input(settings, memory_of(s, cycle), cycle);
      rewritten = now();
      int error = submit_cycle(s, cycle);
      submitted = now();
      if (error == -1) return no_answer(settings);
      if (error) {
        printf("streaming-loop: the submission was not accepted (0x%08x)\n", (unsigned)error);
        return EXIT_NO_GPU;
      }
      fences[slot] = s->gpu.fence;
    }
    if (n < settings->cycles) {
      work(settings->work);
      worked = now();
    }
    if (n < settings->ahead) continue;
    unsigned done = n - settings->ahead, done_cycle = first_cycle + done;
    if (settings->protect) {
      protect_output(&s->plan, memory_of(s, done_cycle));
    } else if (gpu_wait_for(&s->gpu, fences[done_cycle % (settings->ahead + 1)], settings->wait_seconds) != GPU_DONE) {
      return no_answer(settings);
    }
    times[done] = (struct times){rewritten - begin, submitted - rewritten, now() - worked};
    if (begun != 0) waited += times[done].submit + times[done].wait;
    if (settings->times)
      printf("cycle %u: rewrite %.1f us, submit %.1f us, wait %.1f us\n", done, times[done].rewrite, times[done].submit,
             times[done].wait);
    if (settings->check_all || done + 1 == settings->cycles) wrong += check_cycle(s, done_cycle);
  }
  printf("%-6s %u cycles of %u dispatches in %u submissions, %u pages rewritten; median rewrite %.1f us, submit %.1f us, "
         "wait %.1f us; %s\n",
         variant_name(s->variant), settings->cycles, settings->dispatches, settings->acquires, pages,
         median(times, settings->cycles, 0), median(times, settings->cycles, 1), median(times, settings->cycles, 2),
         wrong ? "different" : "equal");
  if (settings->times && begun != 0)
    printf("submitting and waiting: %.2f %% of the time\n", 100 * waited / (now() - begun));
  return wrong ? EXIT_DIFFERENT : 0;
}

int main(int argc, char** argv) {
  static struct stream stream;
  static struct settings settings;
  if (!read_settings(argc, argv, &settings)) return EXIT_USAGE;
  stream.settings = &settings;
  make_plan(&settings, &stream.plan);
  int error = gpu_open(&stream.gpu, 0, shared_bytes(&stream.plan) * (settings.ahead + 1));
  for (unsigned i = 0; i <= settings.ahead && !error; i++)
    error = make_memory(&settings, &stream.plan, &stream.gpu, &stream.memory[i]);
  struct times* times = malloc(sizeof *times * settings.cycles);
  if (error || !times) {
    printf("streaming-loop: no GPU queue or memory (0x%08x)\n", (unsigned)error);
    return EXIT_NO_GPU;
  }
  unsigned equal = 0, different = 0;
  int first = settings.variant == VARIANTS ? 0 : settings.variant;
  int last = settings.variant == VARIANTS ? VARIANTS - 1 : settings.variant;
  for (int variant = first; variant <= last; variant++) {
    stream.variant = variant;
    int code = run_variant(&stream, times, (unsigned)variant * settings.cycles + 1);
    if (code > EXIT_DIFFERENT) return code;
    code ? different++ : equal++;
  }
  printf("streaming-loop: %u equal, %u different\n", equal, different);
  return different ? EXIT_DIFFERENT : 0;
}
