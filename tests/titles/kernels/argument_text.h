// The small language of cases.inc: what a kernel's arguments are.
//   f:EXPR i:EXPR u:EXPR          a float, int or uint
//   s:EXPR                        a sampler with a linear filter; EXPR: clamp mode of both directions
//   in:TYPE:EXPR                  an input of EXPR elements
//   io:TYPE:EXPR                  input and output
//   out:TYPE:EXPR                 output, filled with a poison pattern before
//   table:EXPR                    16 pointers to EXPR floats each (ptrtable)
//   list:EXPR                     a linked list of nodes with EXPR floats each (ptrtable)
//   descriptors:EXPR              a table of EXPR descriptors (V#)
//   @in:... @io:... @out:...      a buffer that the kernel reaches through the next descriptor of the table
// EXPR: numbers and n (elements of the case) with + * /, from left to right. TYPE: see enum element.
#ifndef ORRERY_TITLES_KERNELS_ARGUMENT_TEXT_H
#define ORRERY_TITLES_KERNELS_ARGUMENT_TEXT_H

enum element {
  ELEMENT_F32,
  ELEMENT_U32,
  ELEMENT_U8,
  ELEMENT_I8,
  ELEMENT_SMALL,
  ELEMENT_CODE,
  ELEMENT_F64,
  ELEMENT_I64,
  ELEMENT_F16,
  ELEMENT_BODY,
  ELEMENT_COUNT,
  ELEMENT_RECORD,  // 16 bytes; a descriptor has their stride
  ELEMENT_RGBA8,   // a descriptor has the format
  ELEMENT_KINDS
};
enum argument_use {
  USE_VALUE,
  USE_SAMPLER, USE_INPUT, USE_INPUT_OUTPUT, USE_OUTPUT, USE_TABLE, USE_LIST, USE_DESCRIPTORS };
enum { MOST_ARGUMENTS = 8 };

struct argument {
  enum argument_use use;
  enum element element;
  unsigned long count;  // elements of a buffer
  unsigned value;       // bits of a value
  int in_table;         // reached through a table of descriptors, no argument of the kernel
};

unsigned element_bytes(enum element e);
double evaluate(const char** text, double n);
// Number of arguments, -1: the text is wrong.
int parse_arguments(const char* text, double n, struct argument* out);

#endif
