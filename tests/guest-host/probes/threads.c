// Threads: each with its own thread pointer, stack and errno.
#include <kernel.h>
#include <scepthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

static __thread int direct __attribute__((tls_model("initial-exec"))) = 3;
static __thread int called __attribute__((tls_model("local-dynamic"))) = 4;
static ScePthreadMutex mutex;
static int total;

static void* work(void* argument) {
  const int n = (int)(intptr_t)argument;
  for (int i = 0; i < 300; ++i) {
    direct += n;
    called += n;
    *__error() = n;
    // Imports of several kinds between the accesses.
    char text[32];
    snprintf(text, sizeof text, "%d", n);
    if (atoi(text) != n || *__error() != n) return (void*)1;
    if (i % 50 == 0) scePthreadYield();
    scePthreadMutexLock(&mutex);
    ++total;
    scePthreadMutexUnlock(&mutex);
  }
  if (direct != 3 + 300 * n || called != 4 + 300 * n) return (void*)2;
  if (n % 2 == 0) scePthreadExit((void*)(intptr_t)(100 + n));
  return (void*)(intptr_t)(100 + n);
}

static int threads(const char* a) {
  (void)a;
  enum { kThreads = 8 };
  ScePthread thread[kThreads];
  if (scePthreadMutexInit(&mutex, 0, "probe") != 0) return 2;
  for (int i = 0; i < kThreads; ++i) {
    if (scePthreadCreate(&thread[i], 0, work, (void*)(intptr_t)(i + 1), "worker") != 0) return 3;
  }
  for (int i = 0; i < kThreads; ++i) {
    void* result = 0;
    if (scePthreadJoin(thread[i], &result) != 0) return 4;
    if (result != (void*)(intptr_t)(101 + i)) return printf("thread %d: %d\n", i, (int)(intptr_t)result);
  }
  printf("%d by %d threads, mine still %d and %d\n", total, kThreads, direct, called);
  return 0;
}

static void* fault(void* argument) { return (void*)(intptr_t)*(volatile int*)argument; }
static int thread_fault(const char* a) {
  (void)a;
  ScePthread thread;
  if (scePthreadCreate(&thread, 0, fault, (void*)0x123456, "unlucky") != 0) return 3;
  return scePthreadJoin(thread, 0);
}

// What a call of an import costs; not a test, but what the numbers in the documents come from.
static int crossings(const char* a) {
  const int count = atoi(a);
  const uint64_t begin = sceKernelReadTsc();
  for (int i = 0; i < count; ++i) __error();
  const uint64_t ticks = sceKernelReadTsc() - begin;
  printf("%.1f ns a call\n", (double)ticks * 1e9 / (double)sceKernelGetTscFrequency() / count);
  return 0;
}

const struct Probe thread_probes[] = {
    {"threads", threads}, {"thread-fault", thread_fault}, {"crossings", crossings}, {0, 0}};
