// Six threads at everything that threads wait for, each step drawn from a seed. Tells every step with its time, in the order
// in which they came: under the logical clock two runs tell the same.
//   threads [SEED]
#include <kernel.h>
#include <scepthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 6
#define STEPS 50

static ScePthreadMutex mutex;
static ScePthreadCond condition;
static SceKernelSema semaphore;
static SceKernelEventFlag flag;
static uint32_t program;

static uint32_t draw(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

// Something to compute, so that threads are not always waiting.
static uint32_t work(uint32_t rounds) {
  uint32_t value = rounds;
  for (uint32_t i = 0; i < rounds; ++i) value = value * 2654435761u ^ value >> 13;
  return value;
}

static int step(uint32_t what, uint32_t number, uint32_t micros) {
  uint64_t seen = 0;
  uint32_t time = micros;
  int result = 0;
  switch (what) {
    case 0:
      return sceKernelUsleep(micros);
    case 1:
      result = scePthreadMutexLock(&mutex);
      sceKernelUsleep(micros / 8);
      return result | scePthreadMutexUnlock(&mutex);
    case 2:
      scePthreadMutexLock(&mutex);
      result = scePthreadCondTimedwait(&condition, &mutex, micros);
      scePthreadMutexUnlock(&mutex);
      return result;
    case 3:
      return scePthreadCondBroadcast(&condition);
    case 4:
      return sceKernelWaitSema(semaphore, 1, &time) + (int)time;
    case 5:
      return sceKernelSignalSema(semaphore, 1);
    case 6:
      result = sceKernelWaitEventFlag(flag, 1ull << number % 4,
                                      SCE_KERNEL_EVF_WAITMODE_OR | SCE_KERNEL_EVF_WAITMODE_CLEAR_PAT, &seen, &time);
      return result + (int)seen + (int)time;
    case 7:
      return sceKernelSetEventFlag(flag, number % 16);
    case 8:
      result = scePthreadMutexTrylock(&mutex);
      if (result == 0) scePthreadMutexUnlock(&mutex);
      return result;
    case 9:
      return sceKernelPollSema(semaphore, 1);
    default:
      scePthreadYield();
      return 0;
  }
}

static void* run(void* argument) {
  const uint32_t id = (uint32_t)(uintptr_t)argument;
  uint32_t state = program * 97 + id;
  for (int i = 0; i < STEPS; ++i) {
    const uint32_t what = draw(&state) % 11, number = draw(&state), micros = draw(&state) % 3000;
    const uint32_t computed = work(draw(&state) % 20000);
    const int result = step(what, number, micros);
    printf("%llu us: thread %u step %d: %u gives %08x (%08x)\n", (unsigned long long)sceKernelGetProcessTime(), id, i, what,
           (unsigned)result, computed);
  }
  return argument;
}

int main(int argc, char** argv) {
  program = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
  if (scePthreadMutexInit(&mutex, NULL, "mutex") != 0 || scePthreadCondInit(&condition, NULL, "condition") != 0 ||
      sceKernelCreateSema(&semaphore, "semaphore", 0, 1, 1000, NULL) != 0 ||
      sceKernelCreateEventFlag(&flag, "flag", SCE_KERNEL_EVF_ATTR_MULTI, 0, NULL) != 0) {
    return 1;
  }
  ScePthread threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; ++i) {
    if (scePthreadCreate(&threads[i], NULL, run, (void*)(i + 1), "worker") != 0) return 2;
  }
  for (uintptr_t i = 0; i < THREADS; ++i) {
    void* result = NULL;
    if (scePthreadJoin(threads[i], &result) != 0 || result != (void*)(i + 1)) return 3;
  }
  printf("threads: %d steps\n", THREADS * STEPS);
  return 0;
}
