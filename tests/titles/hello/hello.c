// Prints, uses thread-local storage by both access models, shows its arguments, returns the exit code it is given.
//   hello [--code N] [words...]
#include <kernel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Through __tls_get_addr, and relative to the thread pointer.
static __thread int called __attribute__((tls_model("local-dynamic"))) = 40;
static __thread int direct __attribute__((tls_model("initial-exec"))) = 2;
static __thread char zeroed[100] __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) static int count_up(int by) {
  called += by;
  direct += by;
  return called + direct;
}

static int constructed;
__attribute__((constructor)) static void construct(void) { constructed = 7; }

int main(int argc, char** argv) {
  int code = 0;
  puts("hello from the title");
  for (int i = 1; i < argc; ++i) {
    printf("argument %d: %s\n", i, argv[i]);
    if (strcmp(argv[i], "--code") == 0 && i + 1 < argc) code = atoi(argv[i + 1]);
  }
  int sum = 0;
  for (unsigned i = 0; i < sizeof zeroed; ++i) sum += zeroed[i];
  printf("thread-local: %d, zeroed: %d\n", count_up(1), sum);
  printf("constructed: %d\n", constructed);
  char line[64];
  const int length = snprintf(line, sizeof line, "%5.2f|%-4s|%04x|%lld|%c\n", 3.14159, "ab", 0xbeef, 1ll << 40, 'z');
  sceKernelWrite(1, line, (size_t)length);
  return code;
}
