#include "dispatch.h"

// Packets and registers: AMD's public headers (gc_10_3_0, PM4 type 3); register offsets count from SH base 0x2C00.
enum {
  OP_DISPATCH_DIRECT = 0x15,
  OP_RELEASE_MEM = 0x49,
  OP_ACQUIRE_MEM = 0x58,
  OP_SET_SH_REG = 0x76,
  COMPUTE_START_X = 0x204,
  COMPUTE_NUM_THREAD_X = 0x207,
  COMPUTE_PGM_LO = 0x20C,
  COMPUTE_PGM_RSRC1 = 0x212,
  COMPUTE_RESOURCE_LIMITS = 0x215,
  COMPUTE_TMPRING_SIZE = 0x218,
  COMPUTE_PGM_RSRC3 = 0x228,
  COMPUTE_USER_DATA_0 = 0x240,
  INITIATOR_ENABLE = 1,
  INITIATOR_THREAD_DIMENSIONS = 1 << 5,
  INITIATOR_ORDER = 1 << 6,
  INITIATOR_WAVE32 = 1 << 15,
};

static unsigned low(const volatile void* p) { return (unsigned)(unsigned long)p; }
static unsigned high(const volatile void* p) { return (unsigned)((unsigned long)p >> 32); }

// compute: bit 1 of the header, SHADER_TYPE.
static void packet(struct packet_writer* w, unsigned opcode, unsigned compute, const unsigned* body, unsigned count) {
  if (w->overflow || w->capacity - w->count < count + 1) {
    w->overflow = 1;
    return;
  }
  w->words[w->count++] = 3u << 30 | (count - 1) << 16 | opcode << 8 | compute << 1;
  for (unsigned i = 0; i < count; i++) w->words[w->count++] = body[i];
}

static void set_registers(struct packet_writer* w, unsigned first, const unsigned* values, unsigned count) {
  unsigned body[20] = {first};
  for (unsigned i = 0; i < count; i++) body[i + 1] = values[i];
  packet(w, OP_SET_SH_REG, 1, body, count + 1);
}

static void put(unsigned char* at, unsigned long value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static unsigned bytes_per_wave(const struct gpu_kernel* k) { return (k->private_bytes * k->wave + 1023) / 1024 * 1024; }

unsigned long dispatch_scratch_bytes(const struct dispatch* d) {
  return (unsigned long)bytes_per_wave(d->kernel) * DISPATCH_SCRATCH_WAVES;
}

// The AQL packet: kernels that use the OpenCL library's ids read group and grid size from it (HSA runtime
// specification).
static void fill_dispatch_packet(unsigned char* p, const struct dispatch* d, const unsigned char* arguments) {
  for (int i = 0; i < 64; i++) p[i] = 0;
  put(p, 2, 2);      // header: kernel dispatch
  put(p + 2, 3, 2);  // dimensions
  for (int i = 0; i < 3; i++) {
    put(p + 4 + 2 * i, d->group_size[i], 2);
    put(p + 12 + 4 * i, d->threads[0] ? d->threads[i] : (unsigned long)d->groups[i] * d->group_size[i], 4);
  }
  put(p + 24, d->kernel->private_bytes, 4);
  put(p + 28, d->kernel->lds_bytes, 4);
  put(p + 40, (unsigned long)arguments, 8);
}

// Arguments behind the explicit ones (code object version 5): group counts and sizes, remainders, offsets, dimensions.
static void fill_hidden_arguments(unsigned char* block, const struct dispatch* d) {
  const struct gpu_kernel* k = d->kernel;
  unsigned end = 0;
  for (unsigned i = 0; i < k->argument_count; i++) end = k->arguments[i].offset + k->arguments[i].size;
  end = (end + 7) & ~7u;
  if (k->argument_bytes < end + 66) return;
  // Debian's libclc, which such kernels use, reads the global offset where version 5 has group counts. There is none.
  if (k->dispatch_packet_sgpr >= 0) return;
  for (int i = 0; i < 3; i++) {
    put(block + end + 4 * i, d->groups[i], 4);
    put(block + end + 12 + 2 * i, d->group_size[i], 2);
  }
  put(block + end + 64, 3, 2);
}

// Private memory as a buffer: lanes interleaved by dword (swizzled), thread id added.
static void fill_private_buffer(unsigned* sgprs, const struct dispatch* d) {
  unsigned index_stride = d->kernel->wave == 64 ? 3 : 2;
  sgprs[0] = low(d->scratch);
  sgprs[1] = (high(d->scratch) & 0xffff) | 1u << 31;
  sgprs[2] = d->scratch ? (unsigned)dispatch_scratch_bytes(d) : 0;
  sgprs[3] = 22u << 12 | index_stride << 21 | 1u << 23 | 1u << 24 | 3u << 28;
}

static void fill_user_data(unsigned* sgprs, const struct dispatch* d) {
  const struct gpu_kernel* k = d->kernel;
  if (k->arguments_in_sgprs) {
    for (unsigned i = 0; i < k->argument_bytes; i++) ((unsigned char*)sgprs)[i] = d->arguments[i];
    return;
  }
  unsigned char *arguments = d->memory, *aql = d->memory + DISPATCH_ARGUMENT_BYTES - 64;
  unsigned explicit_end = 0;
  for (unsigned i = 0; i < k->argument_count; i++) explicit_end = k->arguments[i].offset + k->arguments[i].size;
  for (unsigned i = 0; i < DISPATCH_ARGUMENT_BYTES - 64; i++) arguments[i] = i < explicit_end ? d->arguments[i] : 0;
  fill_hidden_arguments(arguments, d);
  fill_dispatch_packet(aql, d, arguments);
  if (k->private_buffer_sgpr >= 0) fill_private_buffer(sgprs + k->private_buffer_sgpr, d);
  if (k->dispatch_packet_sgpr >= 0) {
    sgprs[k->dispatch_packet_sgpr] = low(aql);
    sgprs[k->dispatch_packet_sgpr + 1] = high(aql);
  }
  if (k->kernarg_sgpr >= 0) {
    sgprs[k->kernarg_sgpr] = low(arguments);
    sgprs[k->kernarg_sgpr + 1] = high(arguments);
  }
  if (k->flat_scratch_sgpr >= 0) {
    sgprs[k->flat_scratch_sgpr] = low(d->scratch);
    sgprs[k->flat_scratch_sgpr + 1] = high(d->scratch);
  }
}

void write_dispatch(struct packet_writer* w, const struct dispatch* d) {
  const struct gpu_kernel* k = d->kernel;
  unsigned sgprs[16] = {0};
  fill_user_data(sgprs, d);
  unsigned long program = (unsigned long)k->image + k->entry;
  unsigned start[] = {0, 0, 0};
  unsigned address[] = {(unsigned)(program >> 8), (unsigned)(program >> 40)};
  unsigned resources[] = {k->rsrc1, k->rsrc2};
  unsigned limits = 0;
  unsigned ring = k->private_bytes ? DISPATCH_SCRATCH_WAVES | bytes_per_wave(k) / 1024 << 12 : 0;
  set_registers(w, COMPUTE_START_X, start, 3);
  set_registers(w, COMPUTE_NUM_THREAD_X, d->group_size, 3);
  set_registers(w, COMPUTE_PGM_LO, address, 2);
  set_registers(w, COMPUTE_PGM_RSRC1, resources, 2);
  set_registers(w, COMPUTE_RESOURCE_LIMITS, &limits, 1);
  set_registers(w, COMPUTE_TMPRING_SIZE, &ring, 1);
  set_registers(w, COMPUTE_PGM_RSRC3, &k->rsrc3, 1);
  if (k->user_sgprs) set_registers(w, COMPUTE_USER_DATA_0, sgprs, k->user_sgprs);
  unsigned initiator = INITIATOR_ENABLE | INITIATOR_ORDER | (k->wave == 32 ? INITIATOR_WAVE32 : 0);
  unsigned body[] = {d->groups[0], d->groups[1], d->groups[2], initiator};
  if (d->threads[0]) {
    for (int i = 0; i < 3; i++) body[i] = d->threads[i];
    body[3] |= INITIATOR_THREAD_DIMENSIONS;
  }
  packet(w, OP_DISPATCH_DIRECT, 1, body, 4);
}

void write_acquire(struct packet_writer* w) {
  // GCR_CNTL: invalidate and write back every level. Size all ones: the whole address space.
  unsigned body[] = {0, 0xffffffffu, 0x00ffffffu, 0, 0, 10, 0x0000c3a0};
  packet(w, OP_ACQUIRE_MEM, 0, body, 7);
}

void write_fence(struct packet_writer* w, volatile unsigned* label, unsigned value) {
  // Bottom of pipe, caches written back; data select 1: 32 bits.
  unsigned body[] = {0x06603514, 0x20000000, low(label), high(label), value, 0, 0};
  packet(w, OP_RELEASE_MEM, 0, body, 7);
}

void write_padding(struct packet_writer* w, unsigned count) {
  if (w->overflow || w->capacity - w->count < count) {
    w->overflow = 1;
    return;
  }
  for (unsigned i = 0; i < count; i++) w->words[w->count++] = 0xffff1000;
}
