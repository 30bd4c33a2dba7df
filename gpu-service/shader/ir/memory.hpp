// What a memory operation does, beside its operands.
#pragma once

#include <cstdint>

#include "gpu-service/shader/ir/value.hpp"

namespace orrery::shader::ir {

enum class Space : uint8_t {
  guest,    // address: u64 guest address, through the device page table; what is absent is dropped and recorded
  buffer,   // address: u32 byte offset from the base of bound buffer `binding`; the caller has checked the V#'s bounds
  lds,      // address: u32 byte offset into the group's LDS; what lies outside reads 0 and is dropped
  scratch,  // address: u32 byte offset into the lane's private memory
  image,    // address: as ImageWork says; registers' contents, u32
  draw,     // address: u32 byte offset into the draw's memory (stage.hpp); always inside
  output,   // stores only, no address: component `offset` of the pixel's colour for target `binding`, or kKeepsPixels
};

// What an access to an image does. Its address begins with the eight words of a T#.
enum class ImageWork : uint8_t {
  load,    // then x, y, z, level: four components
  store,   // the same; four components
  place,   // the same: the u64 guest address of an element for atomics, 0: outside; the flags are its bytes
  info,    // then the level asked for: width, height, depth or layers, levels
  sample,  // then an S# of four words, x, y, z, offset, compare, level, clamp, gradients (three by each direction)
};

enum class AtomicOp : uint8_t {
  none,
  swap,
  compare_swap,
  add,
  sub,
  umin,
  smin,
  umax,
  smax,
  iand,
  ior,
  ixor,
  inc,
  dec,
  fadd,
  fmin,
  fmax,
  // Below and compare_swap take a second operand s beside the data d; m is what memory holds.
  reverse_sub,    // d - m (no s)
  clamped_sub,    // m - d, 0 where that is negative (no s)
  fcompare_swap,  // m == s as floats ? d : m
  mask_or,        // (m & ~s) | d
  wrap,           // m >= s ? m - s : m + d
};
constexpr bool has_second_operand(AtomicOp op) { return op == AtomicOp::compare_swap || op >= AtomicOp::fcompare_swap; }

struct Access {
  Space space = Space::guest;
  uint8_t bytes = 4;       // of one component: 1, 2 (zero-extended in u32), 4; 8 for 64-bit atomics (u64 operands)
  uint8_t components = 1;  // 1..4 dwords; 1 for narrower ones
  AtomicOp atomic = AtomicOp::none;
  bool returns = false;                             // atomics: the old value is used
  bool flush_inputs = false, flush_result = false;  // fadd: denormals become zeros of their sign
  bool scalar = false;                              // by the scalar unit, whose waits are those of LDS
  bool coherent = false;                            // glc/dlc: not from a cache of its own
  // Space::buffer; of accesses to an image: the traced T#'s number + 1, 0: none; and the traced S#'s.
  uint32_t binding = 0, sampler = 0;
  int32_t offset = 0;                 // bytes added to the address
  uint32_t instruction = 0;           // offset in the program, for reports
  ImageWork image = ImageWork::load;  // Space::image
  uint32_t image_flags = 0;           // shader/image/flags.hpp
};

}  // namespace orrery::shader::ir
