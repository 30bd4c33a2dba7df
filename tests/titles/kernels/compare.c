#include "compare.h"

#include <stdio.h>
#include <string.h>

static double as_number(const unsigned char* at, enum element e) {
  float f;
  double d;
  if (e == ELEMENT_F64) return memcpy(&d, at, 8), d;
  return memcpy(&f, at, 4), f;
}

static int is_float(enum element e) {
  return e == ELEMENT_F32 || e == ELEMENT_F64 || e == ELEMENT_RECORD || e == ELEMENT_COUNT;
}

static int same(const unsigned char* a, const unsigned char* b, enum element e, unsigned bytes, struct tolerance t) {
  if (!memcmp(a, b, bytes)) return 1;
  if (!is_float(e)) return 0;
  double x = as_number(a, e), y = as_number(b, e);
  if (x != x && y != y) return 1;
  double size = y < 0 ? -y : y, off = x < y ? y - x : x - y;
  return (t.relative > 0 || t.absolute > 0) && off <= t.absolute + t.relative * size;
}

static unsigned word_at(const unsigned char* at, unsigned bytes) {
  unsigned value = 0;
  memcpy(&value, at, bytes < 4 ? bytes : 4);
  return value;
}

static void tell_value(struct comparison* out, int argument, size_t index, const unsigned char* gpu,
                       const unsigned char* cpu, enum element e, unsigned bytes) {
  if (is_float(e))
    snprintf(out->difference, sizeof out->difference, "argument %d, element %zu: GPU %.9g, CPU %.9g (%08x, %08x)",
             argument, index, as_number(gpu, e), as_number(cpu, e), word_at(gpu, bytes), word_at(cpu, bytes));
  else
    snprintf(out->difference, sizeof out->difference, "argument %d, element %zu: GPU 0x%x, CPU 0x%x", argument, index,
             word_at(gpu, bytes), word_at(cpu, bytes));
}

static int is_output(const struct argument* a) { return a->use == USE_OUTPUT || a->use == USE_INPUT_OUTPUT; }

// Looks for a changed byte outside the outputs.
static int outside_changed(const unsigned char* gpu, const unsigned char* before, const struct argument* arguments,
                           int count, const struct block_layout* layout, struct comparison* out) {
  size_t at = 0;
  for (int i = 0; i <= count; i++) {
    if (i < count && (!is_output(&arguments[i]) || layout->bytes[i] == 0)) continue;
    size_t end = i < count ? layout->offset[i] : layout->total;
    if (memcmp(gpu + at, before + at, end - at)) {
      while (gpu[at] == before[at]) at++;
      int owner = 0;
      for (int k = 0; k < count; k++)
        if (layout->bytes[k] && layout->offset[k] <= at) owner = k;
      long where = (long)at - (long)layout->offset[owner];
      snprintf(out->difference, sizeof out->difference,
               "stored outside the outputs: byte %ld of argument %d, which has %zu bytes", where, owner,
               layout->bytes[owner]);
      return 1;
    }
    if (i < count) at = layout->offset[i] + layout->bytes[i];
  }
  return 0;
}

void compare_blocks(const unsigned char* gpu, const unsigned char* cpu, const unsigned char* before,
                    const struct argument* arguments, int count, const struct block_layout* layout,
                    struct tolerance tolerance, struct comparison* out) {
  out->outcome = OUTCOME_EQUAL;
  out->difference[0] = 0;
  int gpu_wrote = 0, cpu_wrote = 0;
  size_t differences = 0, elements = 0;
  for (int i = 0; i < count; i++) {
    if (!is_output(&arguments[i])) continue;
    size_t from = layout->offset[i];
    gpu_wrote |= memcmp(gpu + from, before + from, layout->bytes[i]) != 0;
    cpu_wrote |= memcmp(cpu + from, before + from, layout->bytes[i]) != 0;
    unsigned bytes = element_bytes(arguments[i].element);
    enum element e = arguments[i].element;
    size_t count_of = arguments[i].count;
    if (e == ELEMENT_RECORD) count_of *= 4, bytes = 4;  // four floats
    for (size_t k = 0; k < count_of; k++, elements++) {
      const unsigned char *g = gpu + from + k * bytes, *c = cpu + from + k * bytes;
      if (same(g, c, e, bytes, tolerance)) continue;
      if (differences++ == 0) tell_value(out, i, k, g, c, e, bytes);
    }
  }
  if (differences) {
    out->outcome = gpu_wrote || !cpu_wrote ? OUTCOME_DIFFERENT : OUTCOME_REFUSED;
    size_t used = strlen(out->difference);
    snprintf(out->difference + used, sizeof out->difference - used, "; %zu of %zu differ", differences, elements);
  }
  if (!cpu_wrote) {
    out->outcome = OUTCOME_DIFFERENT;
    snprintf(out->difference, sizeof out->difference, "the CPU wrote nothing, so that nothing is compared");
  }
  if (outside_changed(gpu, before, arguments, count, layout, out)) out->outcome = OUTCOME_DIFFERENT;
}
