#include "stream_cycle.h"

#include <stdio.h>
#include <string.h>

extern const struct gpu_kernel stream_static_w32, stream_table_w32, stream_wave_w32, stream_group_w32, stream_branch_w32,
    stream_image_w32;
static const struct gpu_kernel* const kKernels[VARIANTS] = {&stream_static_w32, &stream_table_w32, &stream_wave_w32,
                                                            &stream_group_w32, &stream_branch_w32, &stream_image_w32};

unsigned salt_of(unsigned cycle, unsigned dispatch) { return cycle * 0x01000193u + dispatch * 31u + 7u; }

const struct stream_memory* memory_of(const struct stream* s, unsigned cycle) {
  return &s->memory[cycle % (s->settings->ahead + 1)];
}

static void put(unsigned char* at, const void* value, size_t bytes) { memcpy(at, value, bytes); }

static void write_stream(struct stream* s, unsigned cycle, unsigned d) {
  const struct gpu_kernel* kernel = kKernels[s->variant];
  const struct stream_memory* memory = memory_of(s, cycle);
  unsigned char arguments[64] = {0};
  unsigned numbers[4] = {s->plan.first_in[d], s->plan.first_out[d], s->plan.words, salt_of(cycle, d)};
  unsigned in[4];
  fill_descriptor(in, memory->input, memory->input_bytes);
  if (s->variant == VARIANT_STATIC)
    put(arguments + kernel->arguments[0].offset, memory->table, 16);
  else
    put(arguments + kernel->arguments[0].offset, s->variant == VARIANT_IMAGE ? &memory->images : &memory->table, 8);
  put(arguments + kernel->arguments[1].offset, in, 16);
  for (int i = 0; i < 4; i++) put(arguments + kernel->arguments[2 + i].offset, &numbers[i], 4);
  struct dispatch dispatch = {.kernel = kernel, .arguments = arguments, .group_size = {GROUP_WAVES * LANES, 1, 1},
                              .groups = {s->plan.groups[d], 1, 1}};
  write_dispatch(&s->gpu.packets, &dispatch);
}

int submit_cycle(struct stream* s, unsigned cycle) {
  unsigned done = 0, dispatches = s->settings->dispatches, acquires = s->settings->acquires;
  for (unsigned part = 0; part < acquires; part++) {
    if (gpu_begin(&s->gpu, s->settings->wait_seconds) != GPU_DONE) return -1;
    for (unsigned end = (part + 1) * dispatches / acquires; done < end; done++) write_stream(s, cycle, done);
    int error = gpu_submit(&s->gpu);
    if (error) return error;
  }
  return 0;
}

unsigned check_cycle(const struct stream* s, unsigned cycle) {
  const struct stream_memory* memory = memory_of(s, cycle);
  unsigned wrong = 0;
  for (unsigned d = 0; d < s->settings->dispatches; d++) {
    for (unsigned wave = 0; wave < s->plan.groups[d] * GROUP_WAVES; wave++) {
      unsigned folded[LANES];
      for (int lane = 0; lane < LANES; lane++) folded[lane] = salt_of(cycle, d);
      const unsigned* in = memory->input + (size_t)(s->plan.first_in[d] + wave) * s->plan.words * LANES;
      for (unsigned word = 0; word < s->plan.words; word++, in += LANES)
        for (int lane = 0; lane < LANES; lane++) folded[lane] = (folded[lane] ^ in[lane]) * 16777619u;
      const unsigned* out = memory->output + (size_t)(s->plan.first_out[d] + wave) * LANES;
      for (int lane = 0; lane < LANES; lane++) {
        if (out[lane] == folded[lane]) continue;
        if (wrong++ == 0)
          printf("streaming-loop: cycle %u, dispatch %u, wave %u, lane %d: %08x instead of %08x\n", cycle, d, wave, lane,
                 out[lane], folded[lane]);
      }
    }
  }
  return wrong;
}
