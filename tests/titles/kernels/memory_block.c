#include "memory_block.h"

#include <string.h>

#define GUARD_PATTERN 0x5A
#define POISON_PATTERN 0xA7

struct node {  // as in ptrtable.cl
  float* data;
  struct node* next;
  unsigned n, kind;
};

static size_t buffer_bytes(const struct argument* a) {
  switch (a->use) {
    case USE_VALUE:
    case USE_SAMPLER:
      return 0;
    case USE_TABLE:
      return TABLE_POINTERS * (sizeof(void*) + a->count * sizeof(float));
    case USE_LIST:
      return LIST_NODES * (sizeof(struct node) + a->count * sizeof(float));
    case USE_DESCRIPTORS:
      return a->count * 16;
    default:
      return a->count * element_bytes(a->element);
  }
}

void lay_out(const struct argument* arguments, int count, struct block_layout* out) {
  size_t at = GUARD_BYTES;
  for (int i = 0; i < count; i++) {
    out->bytes[i] = buffer_bytes(&arguments[i]);
    out->offset[i] = at;
    // The guard follows the buffer's last byte directly; the next buffer starts aligned.
    if (out->bytes[i]) at = (at + out->bytes[i] + GUARD_BYTES + 255) & ~(size_t)255;
  }
  out->total = at;
}

static unsigned long next_random(unsigned long* state) {  // SplitMix64
  unsigned long z = (*state += 0x9e3779b97f4a7c15ul);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
  z = (z ^ z >> 27) * 0x94d049bb133111ebul;
  return z ^ z >> 31;
}

// In [-1, 1), multiples of 2^-23: no denormals.
static float random_float(unsigned long* state) {
  return (float)((int)(next_random(state) >> 40) - (1 << 23)) * (1.0f / (1 << 23));
}

static void fill_element(unsigned char* at, enum element e, unsigned long* state) {
  float f[4];
  double d;
  unsigned u;
  long l;
  switch (e) {
    case ELEMENT_F32:
      f[0] = random_float(state), memcpy(at, f, 4);
      break;
    case ELEMENT_RECORD:
      for (int i = 0; i < 4; i++) f[i] = random_float(state);
      memcpy(at, f, 16);
      break;
    case ELEMENT_BODY:
      for (int i = 0; i < 4; i++) f[i] = random_float(state);
      f[3] = f[3] * f[3] + 0.125f;
      memcpy(at, f, 16);
      break;
    case ELEMENT_F64:
      d = 100 + 90 * (double)random_float(state), memcpy(at, &d, 8);
      break;
    case ELEMENT_I64:
      l = (long)next_random(state) >> 12, memcpy(at, &l, 8);
      break;
    case ELEMENT_SMALL:
      u = 1 + (unsigned)next_random(state) % 100000, memcpy(at, &u, 4);
      break;
    case ELEMENT_CODE:
      u = (unsigned)next_random(state) % 8, memcpy(at, &u, 4);
      break;
    case ELEMENT_COUNT:
      f[0] = (float)(next_random(state) & 1023), memcpy(at, f, 4);
      break;
    case ELEMENT_F16:
      u = 0x3000 + (unsigned)(next_random(state) & 0x8fff), memcpy(at, &u, 2);
      break;  // 1/8 .. 2, both signs
    default:
      u = (unsigned)next_random(state), memcpy(at, &u, element_bytes(e));
      break;
  }
}

static void fill_floats(unsigned char* at, size_t count, unsigned long* state) {
  for (size_t i = 0; i < count; i++) fill_element(at + 4 * i, ELEMENT_F32, state);
}

static void fill_table(unsigned char* at, size_t n, unsigned long* state) {
  float* data = (float*)(at + TABLE_POINTERS * sizeof(void*));
  for (int i = 0; i < TABLE_POINTERS; i++) {
    float* target = data + (size_t)((i * 7 + 3) % TABLE_POINTERS) * n;  // not in order
    memcpy(at + (size_t)i * sizeof(void*), &target, sizeof target);
  }
  fill_floats((unsigned char*)data, TABLE_POINTERS * n, state);
}

static void fill_list(unsigned char* at, size_t n, unsigned long* state) {
  struct node* nodes = (struct node*)at;
  float* data = (float*)(nodes + LIST_NODES);
  static const unsigned kKinds[LIST_NODES] = {0, 3, 7, 1, 2, 9, 0, 7, 3, 2, 1, 0};
  // Node 0 is the head; the rest is linked in another order than it lies.
  for (unsigned i = 0, here = 0; i < LIST_NODES; i++) {
    unsigned there = (here + 5) % LIST_NODES;
    nodes[here] = (struct node){data + here * n, i + 1 < LIST_NODES ? &nodes[there] : 0,
                                (unsigned)(n - i * n / (2 * LIST_NODES)), kKinds[i]};
    here = there;
  }
  fill_floats((unsigned char*)data, LIST_NODES * n, state);
}

// A V# (AMD's gfx10 headers): base, stride, bytes or records; identity swizzle, RESOURCE_LEVEL, range check raw (3) or
// structured (0). Formats: 22 is 32_FLOAT, 56 is 8_8_8_8_UNORM.
static void describe(unsigned words[4], const struct argument* a, const unsigned char* at, size_t bytes) {
  unsigned long address = (unsigned long)at;
  unsigned stride = a->element == ELEMENT_RECORD ? 16 : a->element == ELEMENT_RGBA8 ? 4 : 0;
  unsigned format = a->element == ELEMENT_RGBA8 ? 56 : 22;
  words[0] = (unsigned)address;
  words[1] = ((unsigned)(address >> 32) & 0xffff) | stride << 16;
  words[2] = (unsigned)(stride ? a->count : bytes);
  words[3] = 0xfac | format << 12 | 1u << 24 | (stride ? 0u : 3u << 28);
}

// A T# of a square 2D image (AMD's gfx10 headers): base in 256 bytes, format, sizes less one, linear, identity swizzle.
// Its rows must be a multiple of 256 bytes, which is what the hardware takes for the pitch.
static void describe_image(unsigned words[8], const struct argument* a, const unsigned char* at) {
  unsigned long address = (unsigned long)at >> 8;
  unsigned side = 1;
  while ((unsigned long)side * side < a->count) side++;
  unsigned format = a->element == ELEMENT_RGBA8 ? 56 : 22;
  memset(words, 0, 32);
  words[0] = (unsigned)address;
  words[1] = (unsigned)(address >> 32) | format << 20 | ((side - 1) & 3) << 30;
  words[2] = (side - 1) >> 2 | (side - 1) << 14 | 1u << 31;
  words[3] = 0xfac | 9u << 28;
}

// An S# (AMD's gfx10 headers): clamp modes, all levels, linear filters.
static void describe_sampler(unsigned words[4], unsigned clamp) {
  words[0] = clamp | clamp << 3 | clamp << 6;
  words[1] = 0xfffu << 12;
  words[2] = 1u << 20 | 1u << 22;
  words[3] = 0;
}

// Descriptors of the table's buffers, in order.
static void fill_descriptors(unsigned char* block, const struct argument* arguments, int count,
                             const struct block_layout* layout, int table) {
  unsigned char* at = block + layout->offset[table];
  unsigned char* end = at + layout->bytes[table];
  for (int i = 0; i < count && at < end; i++) {
    if (!arguments[i].in_table) continue;
    unsigned words[4];
    describe(words, &arguments[i], block + layout->offset[i], layout->bytes[i]);
    memcpy(at, words, 16);
    at += 16;
  }
}

void fill_block(unsigned char* block, const struct argument* arguments, int count, const struct block_layout* layout,
                unsigned long seed) {
  memset(block, GUARD_PATTERN, layout->total);
  for (int i = 0; i < count; i++) {
    const struct argument* a = &arguments[i];
    unsigned char* at = block + layout->offset[i];
    unsigned long state = seed * 1000003 + (unsigned long)i;
    if (a->use == USE_OUTPUT) memset(at, POISON_PATTERN, layout->bytes[i]);
    if (a->use == USE_TABLE) fill_table(at, a->count, &state);
    if (a->use == USE_LIST) fill_list(at, a->count, &state);
    if (a->use == USE_DESCRIPTORS) fill_descriptors(block, arguments, count, layout, i);
    if (a->use == USE_INPUT || a->use == USE_INPUT_OUTPUT)
      for (size_t k = 0; k < a->count; k++) fill_element(at + k * element_bytes(a->element), a->element, &state);
  }
}

int write_arguments(unsigned char* out, const struct gpu_kernel* kernel, const struct argument* arguments, int count,
                    const struct block_layout* layout, const unsigned char* block) {
  unsigned next = 0;
  for (int i = 0; i < count; i++) {
    if (arguments[i].in_table) continue;
    if (next == kernel->argument_count) return 0;
    const struct gpu_kernel_argument* to = &kernel->arguments[next++];
    unsigned long address = (unsigned long)(block + layout->offset[i]);
    if ((to->kind == GPU_VALUE) != (arguments[i].use == USE_VALUE)) return 0;
    if ((to->kind == GPU_SAMPLER) != (arguments[i].use == USE_SAMPLER)) return 0;
    if (to->kind == GPU_VALUE) {
      memcpy(out + to->offset, &arguments[i].value, 4);
    } else if (to->kind == GPU_POINTER) {
      memcpy(out + to->offset, &address, 8);
    } else if (to->kind == GPU_SAMPLER) {
      unsigned words[4];
      describe_sampler(words, arguments[i].value);
      memcpy(out + to->offset, words, 16);
    } else if (to->kind == GPU_IMAGE) {
      unsigned words[8];
      describe_image(words, &arguments[i], block + layout->offset[i]);
      memcpy(out + to->offset, words, 32);
    } else {
      unsigned words[4];
      describe(words, &arguments[i], block + layout->offset[i], layout->bytes[i]);
      memcpy(out + to->offset, words, 16);
    }
  }
  return next == kernel->argument_count;
}
