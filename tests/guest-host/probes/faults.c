// Faults of the processor in the title's code, and bad pointers given to imports.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

static volatile uint64_t bad_address = 0x123456;

__attribute__((noinline)) static int innermost(void) { return *(volatile int*)bad_address; }
__attribute__((noinline)) static int middle(void) { return innermost() + 1; }
static int read_fault(const char* a) { return (void)a, middle() + 1; }
static int write_fault(const char* a) { return (void)a, *(volatile int*)bad_address = 1; }
static int jump_null(const char* a) {
  (void)a;
  int (*volatile nowhere)(void) = 0;
  return nowhere();
}
static int illegal(const char* a) { return (void)a, __builtin_trap(), 0; }
static int divide(const char* a) {
  volatile int zero = a[0] == 'x' ? 1 : 0;
  int result;
  __asm__ volatile("cltd; idivl %1" : "=a"(result) : "m"(zero), "a"(7) : "edx");
  return result;
}
__attribute__((noinline)) static int deeper(volatile char* above) {
  volatile char here[4096];
  here[0] = above[0];
  return here[0] == 1 ? 0 : deeper(here) + here[0];
}
static int overflow(const char* a) {
  volatile char first = a[0];
  return deeper(&first);
}
static int bad_pointer(const char* a) { return (void)a, (int)strlen((const char*)bad_address); }
static int smash(const char* a) {
  (void)a;
  volatile char buffer[16];
  for (volatile int i = 0; i < 64; ++i) buffer[i] = 1;
  return buffer[0];
}

// Into the host's address space: nothing of ours may run on the title's behalf.
static int wild_jump(const char* a) {
  (void)a;
  int (*volatile wild)(void) = (int (*)(void))0x7f0000001000;
  return wild();
}
// Calls an import with a stack pointer that points nowhere.
static int no_stack(const char* a) {
  (void)a;
  __asm__ volatile("movq %0, %%rax; movq $0x100008, %%rsp; jmp *%%rax" : : "r"((void*)strlen));
  return 0;
}

const struct Probe fault_probes[] = {{"read-fault", read_fault},
                                     {"write-fault", write_fault},
                                     {"jump-null", jump_null},
                                     {"illegal", illegal},
                                     {"divide", divide},
                                     {"overflow", overflow},
                                     {"bad-pointer", bad_pointer},
                                     {"smash", smash},
                                     {"wild-jump", wild_jump},
                                     {"no-stack", no_stack},
                                     {0, 0}};
