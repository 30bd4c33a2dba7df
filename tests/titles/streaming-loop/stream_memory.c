#include "stream_memory.h"

#include <kernel.h>
#include <string.h>

enum { MAP_PAGE = 16 * 1024 };

static unsigned mixed(unsigned a) {
  a = (a ^ a >> 16) * 0x7feb352d;
  a = (a ^ a >> 15) * 0x846ca68b;
  return a ^ a >> 16;
}

void make_plan(const struct settings* s, struct plan* plan) {
  *plan = (struct plan){{0}, {0}, {0}, 0, 0, 0};
  for (unsigned d = 0; d < s->dispatches; d++) {
    int large = d < s->large;
    plan->groups[d] = s->small_groups;
    if (large) {
      unsigned span = s->most_groups - s->least_groups;
      plan->groups[d] = s->large > 1 ? s->least_groups + span * d / (s->large - 1) : s->most_groups;
      plan->first_in[d] = plan->in_waves;
      plan->in_waves += plan->groups[d] * GROUP_WAVES;
    }
    plan->first_out[d] = plan->out_waves;
    plan->out_waves += plan->groups[d] * GROUP_WAVES;
  }
  plan->words = (unsigned)(((size_t)s->mib << 20) / 4 / LANES / plan->in_waves);
  if (plan->words == 0) plan->words = 1;
  // The small ones read somewhere.
  for (unsigned d = s->large; d < s->dispatches; d++) {
    unsigned waves = plan->groups[d] * GROUP_WAVES;
    plan->first_in[d] = waves < plan->in_waves ? mixed(d) % (plan->in_waves - waves) : 0;
  }
}

static size_t table_bytes(const struct plan* plan) { return (size_t)(2 + plan->out_waves) * 16; }
static size_t images_bytes(const struct plan* plan) { return (size_t)plan->out_waves / GROUP_WAVES * 32; }
static size_t output_bytes(const struct plan* plan) { return (size_t)plan->out_waves * LANES * 4; }

size_t shared_bytes(const struct plan* plan) {
  return table_bytes(plan) + images_bytes(plan) + output_bytes(plan) + 4096;
}

void fill_descriptor(unsigned* words, const void* base, size_t bytes) {
  unsigned long address = (unsigned long)base;
  words[0] = (unsigned)address;
  words[1] = (unsigned)(address >> 32) & 0xffff;
  words[2] = (unsigned)bytes;
  words[3] = 22u << 12 | 3u << 28;  // 32-bit format, raw bounds
}

// A T# of one row of 32_UINT texels (AMD's gfx10 headers): base in 256 bytes, format, sizes less one, linear, identity.
static void fill_row(unsigned* words, const void* base, unsigned texels) {
  unsigned long address = (unsigned long)base >> 8;
  memset(words, 0, 32);
  words[0] = (unsigned)address;
  words[1] = (unsigned)(address >> 32) | 20u << 20 | ((texels - 1) & 3) << 30;
  words[2] = (texels - 1) >> 2 | 1u << 31;
  words[3] = 0xfac | 9u << 28;
}

// One range for the guest, `runs` pieces of physical memory with a gap behind each.
static int map_input(const struct settings* s, const struct plan* plan, struct stream_memory* out) {
  size_t wanted = (size_t)plan->in_waves * plan->words * LANES * 4;
  size_t piece = (wanted + s->runs - 1) / s->runs;
  piece = (piece + MAP_PAGE - 1) / MAP_PAGE * MAP_PAGE;
  size_t pieces = (wanted + piece - 1) / piece, gap = s->runs > 1 ? MAP_PAGE : 0;
  out->input_bytes = pieces * piece;
  int64_t physical = 0;
  int error = sceKernelAllocateMainDirectMemory(pieces * (piece + gap), MAP_PAGE, SCE_KERNEL_WB_ONION, &physical);
  if (error) return error;
  void* base = 0;
  error = sceKernelReserveVirtualRange(&base, out->input_bytes, 0, 2 << 20);
  for (size_t i = 0; i < pieces && !error; i++) {
    void* at = (char*)base + i * piece;
    error = sceKernelMapDirectMemory(&at, piece, SCE_KERNEL_PROT_ALL_RW, SCE_KERNEL_MAP_FIXED,
                                     physical + (int64_t)(i * (piece + gap)), MAP_PAGE);
  }
  out->input = base;
  return error;
}

int make_memory(const struct settings* s, const struct plan* plan, struct gpu_queue* gpu, struct stream_memory* out) {
  int error = map_input(s, plan, out);
  if (error) return error;
  out->output = gpu_allocate(gpu, output_bytes(plan));
  out->table = gpu_allocate(gpu, table_bytes(plan));
  out->images = gpu_allocate(gpu, images_bytes(plan));
  if (!out->output || !out->table || !out->images) return -1;
  for (size_t i = 0; i < out->input_bytes / 4; i++) out->input[i] = mixed((unsigned)i);
  fill_descriptor(out->table, out->output, output_bytes(plan));
  fill_descriptor(out->table + 4, out->output, output_bytes(plan));
  for (unsigned wave = 0; wave < plan->out_waves; wave++) {
    // Long enough for a group's waves, where the table is indexed by group.
    unsigned left = plan->out_waves - wave, waves = left < GROUP_WAVES ? left : GROUP_WAVES;
    fill_descriptor(out->table + 4 * (2 + wave), out->output + (size_t)wave * LANES, (size_t)waves * LANES * 4);
  }
  for (unsigned group = 0; group < plan->out_waves / GROUP_WAVES; group++)
    fill_row(out->images + 8 * group, out->output + (size_t)group * GROUP_WAVES * LANES, GROUP_WAVES * LANES);
  return 0;
}

void protect_output(const struct plan* plan, const struct stream_memory* m) {
  size_t begin = (size_t)m->output / MAP_PAGE * MAP_PAGE, end = (size_t)m->output + output_bytes(plan);
  sceKernelMprotect((void*)begin, (end - begin + MAP_PAGE - 1) / MAP_PAGE * MAP_PAGE, SCE_KERNEL_PROT_ALL_RW);
}

unsigned rewrite_input(const struct settings* s, const struct stream_memory* m, unsigned cycle) {
  unsigned rewritten = 0, limit = (unsigned)(s->share * 1000);
  for (unsigned page = 0; page < m->input_bytes / PAGE_BYTES; page++) {
    if (mixed(page * 2654435761u + cycle) % 100000 >= limit) continue;
    unsigned* words = m->input + (size_t)page * (PAGE_BYTES / 4);
    unsigned value = mixed(page ^ cycle << 20);
    for (unsigned i = 0; i < PAGE_BYTES / 4; i++) words[i] = value + i * 0x9e3779b9u;
    rewritten++;
  }
  return rewritten;
}
