// What kind of image instruction it is and in which registers its address lies (ISA document, "VADDR" and "image
// opcodes with sampler" tables: offset, bias, compare value, gradients, coordinates, level or clamp).
#pragma once

#include <array>
#include <optional>

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader {

// One component of the address: a register, or with A16 or G16 a half of one.
struct ImageComponent {
  uint8_t vgpr = 0;
  enum class Part : uint8_t { whole, low, high } part = Part::whole;
};

struct ImageForm {
  enum class Kind : uint8_t { load, store, atomic, info, sample, gather, level, other } kind = Kind::other;
  bool packed = false, sign_extend = false;  // _pck, _pck_sgn: no format conversion
  bool zero_level = false;                   // _lz
  bool implicit_level = false;               // the level follows from derivatives (and a bias)
  std::optional<ImageComponent> offset, bias, compare;
  std::array<ImageComponent, 6> gradients;  // all by the first screen direction, then all by the second
  uint8_t gradient_count = 0;               // 2 per dimension, or 0
  std::array<std::optional<ImageComponent>, 3> coordinates;  // x, y, z (or layer, or face)
  std::optional<ImageComponent> level;                       // _l, _mip, the level that get_resinfo asks for
  std::optional<ImageComponent> clamp;                       // _cl: the least level
};

ImageForm image_form(const Instruction& image);
// image_atomic_*: 64 bits. DMASK holds one bit per dword of the operands.
bool image_atomic_is_wide(const Instruction& image);

}  // namespace orrery::shader
