#include "gpu-service/shader/decode/encoding.hpp"

#include "gpu-service/shader/decode/operands.hpp"

namespace orrery::shader {

Encoding encoding_of(uint32_t word, uint32_t next) {
  if ((word >> 31) == 0) {
    const uint32_t number = bits(word, 25, 6);
    if (number == 0x3f) {
      return {Format::vop1, bits(word, 9, 8)};
    }
    return number == 0x3e ? Encoding{Format::vopc, bits(word, 17, 8)} : Encoding{Format::vop2, number};
  }
  if ((word >> 30) == 2) {
    switch (bits(word, 23, 7)) {
      case 0x7d:
        return {Format::sop1, bits(word, 8, 8)};
      case 0x7e:
        return {Format::sopc, bits(word, 16, 7)};
      case 0x7f:
        return {Format::sopp, bits(word, 16, 7)};
      default:
        break;
    }
    return (word >> 28) == 0xb ? Encoding{Format::sopk, bits(word, 23, 5)} : Encoding{Format::sop2, bits(word, 23, 7)};
  }
  switch (word >> 26) {
    case 0x32:
      return {Format::vintrp, bits(word, 16, 2)};
    case 0x33:
      return {Format::vop3p, bits(word, 16, 7)};
    case 0x35:
      return {Format::vop3, bits(word, 16, 10)};
    case 0x36:
      return {Format::ds, bits(word, 18, 8)};
    case 0x37: {
      constexpr Format kSegments[] = {Format::flat, Format::scratch, Format::global};
      const uint32_t segment = bits(word, 14, 2);
      return segment == 3 ? Encoding{Format::flat, 0, false} : Encoding{kSegments[segment], bits(word, 18, 7)};
    }
    case 0x38:
      return {Format::mubuf, bits(word, 18, 8)};
    case 0x3a:
      return {Format::mtbuf, bits(word, 16, 3) | bits(next, 21, 1) << 3};
    case 0x3c:
      return {Format::mimg, bits(word, 18, 7) | bits(word, 0, 1) << 7};
    case 0x3d:
      return {Format::smem, bits(word, 18, 8)};
    case 0x3e:
      return {Format::exp, 0};
    default:
      return {Format::sopp, 0, false};
  }
}

const table::Entry& entry_of(const Instruction& instruction) {
  static constexpr table::Entry kNone{};
  const Encoding encoding = encoding_of(instruction.words[0], instruction.words[1]);
  for (const Target target : {Target::gfx1013, Target::gfx1030}) {
    const table::Entry* entry = table::find(encoding.format, encoding.number, target);
    if (entry != nullptr && entry->opcode == instruction.opcode) {
      return *entry;
    }
  }
  return kNone;
}

table::Slot source_slot(const Instruction& instruction, const table::Entry& entry, unsigned index) {
  if (index >= entry.sources.size()) {
    return table::Slot::none;
  }
  if (!instruction.sdwa.present || index != 1 || entry.sources[1] != table::Slot::v1) {
    return entry.sources[index];
  }
  return (entry.flags & table::flags::source1_int) != 0 ? table::Slot::a1 : entry.sources[0];
}

}  // namespace orrery::shader
