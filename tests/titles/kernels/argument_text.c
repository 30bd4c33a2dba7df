#include "argument_text.h"

#include <string.h>

static const struct {
  const char* name;
  unsigned bytes;
} kElements[ELEMENT_KINDS] = {{"f32", 4},   {"u32", 4},     {"u8", 1},   {"i8", 1},  {"small", 4},
                              {"code", 4},  {"f64", 8},     {"i64", 8},  {"f16", 2}, {"body", 16},
                              {"count", 4}, {"record", 16}, {"rgba8", 4}};

unsigned element_bytes(enum element e) { return kElements[e].bytes; }

static double number(const char** text, double n) {
  double sign = 1, value = 0, unit = 1;
  const char* p = *text;
  if (*p == '-') sign = -1, p++;
  if (*p == 'n') {
    value = n;
    p++;
  }
  for (; *p >= '0' && *p <= '9'; p++) value = value * 10 + (*p - '0');
  if (*p == '.')
    for (p++; *p >= '0' && *p <= '9'; p++) value += (*p - '0') * (unit /= 10);
  *text = p;
  return sign * value;
}

double evaluate(const char** text, double n) {
  double value = number(text, n);
  for (char operation; (operation = **text) == '+' || operation == '*' || operation == '/';) {
    (*text)++;
    double other = number(text, n);
    value = operation == '+' ? value + other : operation == '*' ? value * other : value / other;
  }
  return value;
}

static int starts(const char** text, const char* with) {
  size_t length = strlen(with);
  if (strncmp(*text, with, length) || (*text)[length] != ':') return 0;
  *text += length + 1;
  return 1;
}

static int parse_buffer(const char** text, struct argument* out) {
  for (int e = 0; e < ELEMENT_KINDS; e++)
    if (starts(text, kElements[e].name)) {
      out->element = (enum element)e;
      return 1;
    }
  return 0;
}

static int parse_one(const char** text, double n, struct argument* out) {
  *out = (struct argument){.use = USE_VALUE, .in_table = **text == '@'};
  if (out->in_table) (*text)++;
  if (starts(text, "f")) {
    float value = (float)evaluate(text, n);
    memcpy(&out->value, &value, 4);
  } else if (starts(text, "i")) {
    out->value = (unsigned)(int)evaluate(text, n);
  } else if (starts(text, "u")) {
    out->value = (unsigned)evaluate(text, n);
  } else if (starts(text, "s")) {
    out->use = USE_SAMPLER;
    out->value = (unsigned)evaluate(text, n);
  } else {
    if (starts(text, "table")) {
      out->use = USE_TABLE;
    } else if (starts(text, "list")) {
      out->use = USE_LIST;
    } else if (starts(text, "descriptors")) {
      out->use = USE_DESCRIPTORS;
    } else {
      out->use = starts(text, "in") ? USE_INPUT : starts(text, "io") ? USE_INPUT_OUTPUT : USE_OUTPUT;
      if (out->use == USE_OUTPUT && !starts(text, "out")) return 0;
      if (!parse_buffer(text, out)) return 0;
    }
    out->count = (unsigned long)evaluate(text, n);
  }
  return **text == ' ' || **text == 0;
}

int parse_arguments(const char* text, double n, struct argument* out) {
  int count = 0;
  while (*text) {
    if (count == MOST_ARGUMENTS || !parse_one(&text, n, &out[count++])) return -1;
    while (*text == ' ') text++;
  }
  return count;
}
