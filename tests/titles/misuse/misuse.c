// Gives the GPU wrong work of one kind, then right work, and checks that the right work was done: one refusal stops nothing
// that is independent of it.
//   misuse CASE        (misuse --list names the cases)
#include <agc.h>
#include <kernel.h>
#include <stdio.h>
#include <string.h>

#define WORK_ADDRESS 0x4000000000ull
#define WORK_SIZE (16u << 20)
// Parts of the work memory, in bytes.
#define COMMANDS 0x000000u
#define CODE 0x100000u
#define RESULT 0x200000u
#define FENCE 0x210000u
#define CODE_TO_THE_END 0xffc000u  // the last 16 KiB: code that runs off its mapping

static uint8_t* memory;
static void* queue;
static uint32_t* cursor;
static uint32_t* begin;

static void put(uint32_t dword) { *cursor++ = dword; }
static void packet(uint32_t opcode, uint32_t body) { put(0xc0000000u | (body - 1) << 16 | opcode << 8); }

static void set_sh(uint32_t offset, uint32_t value) {
  packet(0x76, 2);
  put(offset);
  put(value);
}

// global_store_dword v[0:1], v2, off of `value` at `address`, by one lane's worth of lanes (all write the same).
static uint64_t store_program(uint32_t at, uint64_t address, uint32_t value, int ends) {
  uint32_t* code = (uint32_t*)(memory + at);
  *code++ = 0x7e0002ff;  // v_mov_b32 v0, literal
  *code++ = (uint32_t)address;
  *code++ = 0x7e0202ff;  // v_mov_b32 v1, literal
  *code++ = (uint32_t)(address >> 32);
  *code++ = 0x7e0402ff;  // v_mov_b32 v2, literal
  *code++ = value;
  *code++ = 0xdc708000;  // global_store_dword v[0:1], v2, off
  *code++ = 0x007d0200;
  *code++ = 0xbf8c0000;  // s_waitcnt 0
  if (ends) *code++ = 0xbf810000;  // s_endpgm
  return WORK_ADDRESS + at;
}

static void dispatch(uint64_t program, uint32_t threads, uint32_t groups) {
  set_sh(0x204, 0);
  set_sh(0x205, 0);
  set_sh(0x206, 0);
  set_sh(0x207, threads);
  set_sh(0x208, 1);
  set_sh(0x209, 1);
  set_sh(0x20c, (uint32_t)(program >> 8));
  set_sh(0x20d, (uint32_t)(program >> 40));
  set_sh(0x212, 0x60af0040);
  set_sh(0x213, 0x00000080);
  packet(0x15, 4);
  put(groups);
  put(1);
  put(1);
  put(0x8041);  // COMPUTE_SHADER_EN, CS_W32_EN
}

static void fence(uint32_t value) {
  packet(0x49, 7);
  put(0x06603514);
  put(0x20000000);
  put((uint32_t)(WORK_ADDRESS + FENCE));
  put((uint32_t)((WORK_ADDRESS + FENCE) >> 32));
  put(value);
  put(0);
  put(0);
}

static void start(void) { begin = cursor = (uint32_t*)(memory + COMMANDS); }

static int submit_range(uint64_t address, uint32_t dwords) {
  SceAgcSubmission submission = {address, dwords, 0, 0};
  return sceAgcDriverSubmitCommandBuffer(queue, &submission);
}
static int submit(void) {
  return submit_range(WORK_ADDRESS + COMMANDS + (uint64_t)((uint8_t*)begin - memory), (uint32_t)(cursor - begin));
}

// The command bytes are copied when they are submitted, so the buffer may be used again at once.
static int wait_for_fence(uint32_t value) {
  volatile uint32_t* seen = (volatile uint32_t*)(memory + FENCE);
  for (int i = 0; i < 3000000; ++i) {
    if (*seen == value) return 1;
    sceKernelUsleep(10);
  }
  return 0;
}

static uint32_t random_state = 12345;
static uint32_t random_word(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  random_state ^= random_state << 5;
  return random_state;
}

static void random_words(void) {
  start();
  for (int i = 0; i < 20000; ++i) put(random_word());
  submit();
}
static void random_packets(void) {
  start();
  for (int i = 0; i < 500; ++i) {
    const uint32_t body = 1 + random_word() % 12;
    const uint32_t opcode = random_word() & 0xff;
    // Packets that write memory or wait would do what they are asked; they have cases of their own.
    if (opcode == 0x37 || opcode == 0x50 || opcode == 0x49 || opcode == 0x3c || opcode == 0x93 || opcode == 0x47) continue;
    packet(opcode, body);
    for (uint32_t k = 0; k < body; ++k) put(random_word());
  }
  submit();
}
static void outside_map(void) {
  submit_range(0x7700000000ull, 64);
  submit_range(0, 64);
  submit_range(~0ull - 15, 64);
  submit_range(WORK_ADDRESS + WORK_SIZE - 16, 1024);
}
static void empty_and_huge(void) {
  submit_range(WORK_ADDRESS, 0);
  submit_range(WORK_ADDRESS, 0xffffffffu);
  sceAgcDriverSubmitCommandBuffer(queue, (const SceAgcSubmission*)0x10);
  sceAgcDriverSubmitCommandBuffer((void*)0x123456, 0);
}
static void program_zero(void) {
  start();
  dispatch(0, 64, 1);
  submit();
}
static void program_unmapped(void) {
  start();
  dispatch(0x7712340000ull, 64, 1);
  dispatch(0xffffffff00ull, 64, 1);
  submit();
}
static void no_endpgm(void) {
  uint32_t* code = (uint32_t*)(memory + CODE_TO_THE_END);
  for (uint32_t i = 0; i < (WORK_SIZE - CODE_TO_THE_END) / 4; ++i) code[i] = 0x7e000280;  // v_mov_b32 v0, 0
  start();
  dispatch(WORK_ADDRESS + CODE_TO_THE_END, 64, 1);
  submit();
}
static void endless_program(void) {
  uint32_t* code = (uint32_t*)(memory + CODE + 0x800);
  code[0] = 0xbf82ffff;  // s_branch to itself
  code[1] = 0xbf810000;
  start();
  dispatch(WORK_ADDRESS + CODE + 0x800, 64, 1);
  submit();
}
static void too_many_groups(void) {
  const uint64_t good = store_program(CODE + 0x800, WORK_ADDRESS + RESULT + 64, 1, 1);
  start();
  dispatch(good, 64, 0xffffffffu);
  cursor[-3] = cursor[-2] = 0xffffu;  // the last packet's groups in y and z
  submit();
}
static void random_program(void) {
  uint32_t* code = (uint32_t*)(memory + CODE + 0x1000);
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 64; ++i) code[i] = random_word();
    code[64] = 0xbf810000;
    start();
    dispatch(WORK_ADDRESS + CODE + 0x1000, 64, 1);
    fence(1000 + (uint32_t)round);
    submit();
    if (!wait_for_fence(1000 + (uint32_t)round)) return;
  }
}
static void group_sizes(void) {
  const uint64_t good = store_program(CODE + 0x800, WORK_ADDRESS + RESULT + 64, 1, 1);
  start();
  dispatch(good, 0, 1);
  dispatch(good, 2000, 1);
  dispatch(good, 0xffff, 1);
  dispatch(good, 64, 0);
  submit();
}
static void store_outside_map(void) {
  start();
  dispatch(store_program(CODE + 0x800, 0x7700000000ull, 0xdead, 1), 64, 1);
  submit();
}
static void store_above_the_address_space(void) {
  start();
  dispatch(store_program(CODE + 0x800, 0x123456789abcdef0ull, 0xdead, 1), 64, 1);
  submit();
}
static void wait_that_nobody_satisfies(void) {
  // On a compute queue of its own, so that the graphics queue goes on.
  void* other = 0;
  if (sceAgcDriverCreateQueue(SCE_AGC_QUEUE_COMPUTE, &other, 0) != 0) return;
  start();
  packet(0x3c, 6);
  put(0x13);
  put((uint32_t)(WORK_ADDRESS + RESULT + 128));
  put((uint32_t)((WORK_ADDRESS + RESULT + 128) >> 32));
  put(0x12345678);
  put(0xffffffff);
  put(10);
  SceAgcSubmission submission = {WORK_ADDRESS + COMMANDS, (uint32_t)(cursor - begin), 0, 0};
  sceAgcDriverSubmitCommandBuffer(other, &submission);
}
static void indirect_loops(void) {
  start();
  packet(0x3f, 3);  // INDIRECT_BUFFER to itself
  put((uint32_t)(WORK_ADDRESS + COMMANDS));
  put((uint32_t)((WORK_ADDRESS + COMMANDS) >> 32));
  put(4);
  submit();
}
static void writes_outside_map(void) {
  start();
  packet(0x37, 5);  // WRITE_DATA
  put(0x00000500);
  put(0);
  put(0x77);
  put(1);
  put(2);
  packet(0x50, 6);  // DMA_DATA fill
  put(0xc0300000);
  put(0);
  put(0);
  put(0);
  put(0x77);
  put(0x100000);
  packet(0x49, 7);  // RELEASE_MEM
  put(0x06603514);
  put(0x20000000);
  put(0x10);
  put(0x77);
  put(1);
  put(0);
  put(0);
  submit();
}
static void exit_while_busy(void) {
  // Many submissions, and no wait for any of them.
  const uint64_t good = store_program(CODE + 0x800, WORK_ADDRESS + RESULT + 64, 1, 1);
  for (int i = 0; i < 400; ++i) {
    start();
    dispatch(good, 64, 1000);
    submit();
  }
}

static const struct {
  const char* name;
  void (*run)(void);
  int waits;  // right work follows and is waited for
} kCases[] = {
    {"random-words", random_words, 1},
    {"random-packets", random_packets, 1},
    {"outside-map", outside_map, 1},
    {"empty-and-huge", empty_and_huge, 1},
    {"program-zero", program_zero, 1},
    {"program-unmapped", program_unmapped, 1},
    {"no-endpgm", no_endpgm, 1},
    {"random-program", random_program, 1},
    {"endless-program", endless_program, 1},
    {"too-many-groups", too_many_groups, 1},
    {"group-sizes", group_sizes, 1},
    {"store-outside-map", store_outside_map, 1},
    {"store-above-the-address-space", store_above_the_address_space, 1},
    {"wait-that-nobody-satisfies", wait_that_nobody_satisfies, 1},
    {"indirect-loops", indirect_loops, 1},
    {"writes-outside-map", writes_outside_map, 1},
    {"exit-while-busy", exit_while_busy, 0},
};

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "--list";
  if (strcmp(wanted, "--list") == 0) {
    for (unsigned i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) puts(kCases[i].name);
    return 0;
  }
  int64_t physical = 0;
  void* address = (void*)WORK_ADDRESS;
  if (sceKernelAllocateMainDirectMemory(WORK_SIZE, 1u << 21, SCE_KERNEL_WB_ONION, &physical) != 0 ||
      sceKernelMapDirectMemory(&address, WORK_SIZE, SCE_KERNEL_PROT_ALL_RW, SCE_KERNEL_MAP_FIXED, physical, 1u << 21) != 0) {
    puts("misuse: no memory");
    return 2;
  }
  memory = address;
  uint32_t state[64] = {0};
  if (sceAgcInit(state, 13) != 0 || sceAgcDriverCreateQueue(SCE_AGC_QUEUE_GRAPHICS, &queue, 0) != 0) {
    puts("misuse: no queue");
    return 2;
  }
  for (unsigned i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (strcmp(wanted, kCases[i].name) != 0) continue;
    kCases[i].run();
    if (!kCases[i].waits) {
      printf("misuse %s: left\n", wanted);
      return 0;
    }
    *(volatile uint32_t*)(memory + RESULT) = 0;
    const uint64_t good = store_program(CODE, WORK_ADDRESS + RESULT, 0x600d0001, 1);
    start();
    dispatch(good, 64, 1);
    fence(0xbeefcafe);
    submit();
    if (!wait_for_fence(0xbeefcafe)) {
      printf("misuse %s: the right work behind it never ended\n", wanted);
      return 3;
    }
    const uint32_t result = *(volatile uint32_t*)(memory + RESULT);
    printf("misuse %s: right work behind it %s (%08x)\n", wanted, result == 0x600d0001 ? "was done" : "was NOT done", result);
    return result == 0x600d0001 ? 0 : 4;
  }
  printf("misuse: no case '%s'\n", wanted);
  return 2;
}
