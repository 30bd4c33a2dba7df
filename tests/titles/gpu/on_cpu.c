#include "on_cpu.h"

// A fiber keeps its callee-saved registers on its own stack (System V x86-64); MXCSR and the x87 word never change
// here.
void orrery_switch_fiber(void** save, void* load);
void orrery_start_fiber(void);
__asm__(
    ".text\n"
    ".globl orrery_switch_fiber\n"
    ".type orrery_switch_fiber, @function\n"
    "orrery_switch_fiber:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n"
    ".size orrery_switch_fiber, . - orrery_switch_fiber\n"
    ".globl orrery_start_fiber\n"
    ".type orrery_start_fiber, @function\n"
    "orrery_start_fiber:\n"
    "  call orrery_fiber_main\n"
    "  ud2\n"
    ".size orrery_start_fiber, . - orrery_start_fiber\n");

static _Alignas(64) unsigned char stacks[ON_CPU_MOST_ITEMS][ON_CPU_STACK];
static void* waiting[ON_CPU_MOST_ITEMS];  // stack pointers of the items that wait at a barrier, null: finished
static unsigned stack_of[ON_CPU_MOST_ITEMS];
static void* scheduler;
static work_item running_item;
static const unsigned char* running_arguments;
static unsigned current, size_x, size_y, size_z, group_id[3], group_count[3];
static unsigned wave_size = 32, group_items;
static int at_barrier;

unsigned orrery_group_id(unsigned dimension);
unsigned orrery_local_id(unsigned dimension);
unsigned orrery_local_size(unsigned dimension);
unsigned orrery_group_count(unsigned dimension);
void orrery_barrier(void);
void orrery_fiber_main(void);
unsigned orrery_wave_size(void);
unsigned long orrery_wave_ballot(int condition);
unsigned orrery_wave_read(unsigned value, unsigned source, unsigned among);

unsigned orrery_group_id(unsigned dimension) { return dimension < 3 ? group_id[dimension] : 0; }
unsigned orrery_group_count(unsigned dimension) { return dimension < 3 ? group_count[dimension] : 1; }
unsigned orrery_local_size(unsigned dimension) {
  return dimension == 0 ? size_x : dimension == 1 ? size_y : dimension == 2 ? size_z : 1;
}
unsigned orrery_local_id(unsigned dimension) {
  if (dimension == 0) return current % size_x;
  if (dimension == 1) return current / size_x % size_y;
  return dimension == 2 ? current / size_x / size_y : 0;
}

void orrery_barrier(void) {
  at_barrier = 1;
  orrery_switch_fiber(&waiting[current], scheduler);
}

// Lanes exchange through two arrays in turn: an item cannot be two exchanges ahead of another.
static unsigned exchanged[2][ON_CPU_MOST_ITEMS];
static unsigned char turn_of[ON_CPU_MOST_ITEMS];

static const unsigned* exchange(unsigned value) {
  unsigned* values = exchanged[turn_of[current]++ & 1];
  values[current] = value;
  orrery_barrier();
  return values;
}

unsigned orrery_wave_size(void) { return wave_size; }

unsigned long orrery_wave_ballot(int condition) {
  const unsigned* values = exchange(condition != 0);
  unsigned long mask = 0;
  unsigned first = current - current % wave_size;
  for (unsigned lane = 0; lane < wave_size && first + lane < group_items; lane++)
    mask |= (unsigned long)values[first + lane] << lane;
  return mask;
}

// The value of lane `source` among the `among` lanes around the own one (a half wave or the wave).
unsigned orrery_wave_read(unsigned value, unsigned source, unsigned among) {
  const unsigned* values = exchange(value);
  if (among > wave_size) among = wave_size;
  return values[current - current % among + source % among];
}

void orrery_fiber_main(void) {
  running_item(running_arguments);
  at_barrier = 0;
  void* ignored;
  orrery_switch_fiber(&ignored, scheduler);
}

static void start(unsigned item, unsigned stack) {
  // As if orrery_switch_fiber had been called just before orrery_start_fiber: six registers and the return address.
  void** top = (void**)(stacks[stack] + ON_CPU_STACK);
  *--top = (void*)orrery_start_fiber;
  for (int i = 0; i < 6; i++) *--top = 0;
  stack_of[item] = stack;
  turn_of[item] = 0;
  current = item;
  orrery_switch_fiber(&scheduler, top);
}

static void run_group(unsigned items) {
  group_items = items;
  // An item that finishes without a barrier leaves its stack to the next one, so that it stays in the cache.
  unsigned stack = 0, left = 0;
  for (unsigned item = 0; item < items; item++) {
    start(item, stack);
    if (at_barrier) {
      stack++;
      left++;
    } else {
      waiting[item] = 0;
    }
  }
  while (left) {
    for (unsigned item = 0; item < items; item++) {
      if (!waiting[item]) continue;
      current = item;
      orrery_switch_fiber(&scheduler, waiting[item]);
      if (!at_barrier) {
        waiting[item] = 0;
        left--;
      }
    }
  }
}

void run_on_cpu(work_item item, const unsigned char* arguments, const unsigned group_size[3], const unsigned groups[3],
                unsigned threads_x, unsigned wave) {
  running_item = item;
  running_arguments = arguments;
  wave_size = wave;
  size_x = group_size[0], size_y = group_size[1], size_z = group_size[2];
  for (int i = 0; i < 3; i++) group_count[i] = groups[i];
  unsigned items = size_x * size_y * size_z;
  if (items == 0 || items > ON_CPU_MOST_ITEMS) return;
  for (group_id[2] = 0; group_id[2] < groups[2]; group_id[2]++)
    for (group_id[1] = 0; group_id[1] < groups[1]; group_id[1]++)
      for (group_id[0] = 0; group_id[0] < groups[0]; group_id[0]++) {
        unsigned left = threads_x - group_id[0] * size_x;
        run_group(threads_x && left < items ? left : items);
      }
}
