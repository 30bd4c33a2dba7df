// System call instructions in the title's own code.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

struct Answer {
  uint64_t value;
  uint8_t failed;
};

static struct Answer raw(uint64_t number, uint64_t a, uint64_t b, uint64_t c) {
  struct Answer answer;
  __asm__ volatile("syscall; setc %1"
                   : "=a"(answer.value), "=r"(answer.failed)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return answer;
}

static int syscalls(const char* a) {
  (void)a;
  static const char text[] = "written by number\n";
  const struct Answer written = raw(4, 1, (uint64_t)text, sizeof text - 1);
  printf("write %d %d\n", (int)written.value, written.failed);
  printf("bad file %d %d\n", (int)raw(4, 77, (uint64_t)text, 1).value, raw(4, 77, (uint64_t)text, 1).failed);
  printf("bad address %d\n", (int)raw(4, 1, 0x10, 5).value);
  printf("getpid %d\n", (int)raw(20, 0, 0, 0).value);
  static const char logged[] = "logged by number\n";
  raw(601, 7, (uint64_t)logged, 0);
  // On the host 39 is getpid and 12 is brk: they must not reach it.
  for (int i = 0; i < 2; ++i) {
    const struct Answer unknown = raw(12, 0, 0, 0);
    printf("refused %d %d\n", (int)unknown.value, unknown.failed);
  }
  // The indirect form: the number is the first argument.
  printf("indirect %d\n", (int)raw(0, 20, 0, 0).value);
  // The other instruction that enters a Linux kernel; 1 would be exit there.
  uint64_t by_interrupt = 20;
  __asm__ volatile("int $0x80" : "+a"(by_interrupt) : : "memory", "rcx", "r11");
  printf("interrupt %d\n", (int)by_interrupt);
  return 0;
}
static int exit_by_number(const char* a) { return (void)a, (int)raw(1, 9, 0, 0).value; }
// Many switches between guest and host, with the thread pointer checked each time.
static int storm(const char* a) {
  (void)a;
  static __thread uint64_t mine __attribute__((tls_model("initial-exec"))) = 5;
  for (int i = 0; i < 2000; ++i) {
    raw(20, 0, 0, 0);
    if (mine != 5 + (uint64_t)i) return 2;
    ++mine;
    if (strlen("four") != 4) return 3;
  }
  return puts("storm over") < 0;
}

const struct Probe syscall_probes[] = {
    {"syscalls", syscalls}, {"exit-by-number", exit_by_number}, {"storm", storm}, {0, 0}};
