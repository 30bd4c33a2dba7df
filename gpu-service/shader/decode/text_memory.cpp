#include <fmt/format.h>
#include <bit>

#include "gpu-service/shader/decode/buffer_format.hpp"
#include "gpu-service/shader/decode/encoding.hpp"
#include "gpu-service/shader/decode/text.hpp"

namespace orrery::shader::text {

using table::Entry;
using table::Slot;
namespace flags = table::flags;

namespace {

void append_plain(std::string& text, const Operand& value, uint32_t wave) {
  append(text, operand(value, Slot::c1, wave));
}

void scalar_memory(std::string& text, const Instruction& instruction, uint32_t wave) {
  const Entry& entry = entry_of(instruction);
  if ((entry.flags & flags::probe) != 0) {
    append(text, immediate16(instruction.immediate));
  } else if (instruction.data.kind != OperandKind::none) {
    append_plain(text, instruction.data, wave);
  }
  if (instruction.base.kind == OperandKind::none) {
    return;
  }
  append_plain(text, instruction.base, wave);
  const int32_t offset = instruction.memory_offset;
  const std::string hex = offset < 0 ? fmt::format("-0x{:x}", -offset) : fmt::format("0x{:x}", offset);
  if (instruction.scalar_offset.kind == OperandKind::none) {
    append(text, offset == 0 ? "null" : hex);  // LLVM reads an offset of 0 as the form with a register, here null
  } else {
    append_plain(text, instruction.scalar_offset, wave);
    text += offset == 0 ? "" : " offset:" + hex;
  }
  text += instruction.glc ? " glc" : "";
  text += instruction.dlc ? " dlc" : "";
}

std::string swizzle(uint32_t pattern) {
  if ((pattern & 0xff00) == 0x8000) {
    return fmt::format("swizzle(QUAD_PERM,{},{},{},{})", pattern & 3, pattern >> 2 & 3, pattern >> 4 & 3,
                       pattern >> 6 & 3);
  }
  if ((pattern & 0x8000) != 0) {
    return fmt::format("{}", pattern);
  }
  const uint32_t and_mask = pattern & 31, or_mask = pattern >> 5 & 31, xor_mask = pattern >> 10 & 31;
  if (and_mask == 31 && or_mask == 0 && std::popcount(xor_mask) == 1) {
    return fmt::format("swizzle(SWAP,{})", xor_mask);
  }
  if (and_mask == 31 && or_mask == 0 && xor_mask != 0 && std::has_single_bit(xor_mask + 1)) {
    return fmt::format("swizzle(REVERSE,{})", xor_mask + 1);
  }
  const uint32_t group = 32 - and_mask;
  if (group > 1 && std::has_single_bit(group) && or_mask < group && xor_mask == 0) {
    return fmt::format("swizzle(BROADCAST,{},{})", group, or_mask);
  }
  // Each lane bit: forced 0 or 1, passed, or inverted.
  std::string mask;
  for (uint32_t bit = 16; bit != 0; bit >>= 1) {
    const bool zero = ((or_mask ^ xor_mask) & bit) != 0,
               one = (((and_mask & bit) | (or_mask & bit)) ^ (xor_mask & bit)) != 0;
    mask += zero == one ? (zero ? '1' : '0') : (zero ? 'i' : 'p');
  }
  return fmt::format("swizzle(BITMASK_PERM,\"{}\")", mask);
}

void local_memory(std::string& text, const Instruction& instruction, uint32_t wave) {
  for (const Operand* value : {&instruction.destination, &instruction.address, &instruction.data, &instruction.data2}) {
    if (value->kind != OperandKind::none) {
      append_plain(text, *value, wave);
    }
  }
  if ((entry_of(instruction).flags & flags::two_offsets) != 0) {
    text += instruction.memory_offset != 0 ? fmt::format(" offset0:{}", instruction.memory_offset) : "";
    text += instruction.offset1 != 0 ? fmt::format(" offset1:{}", instruction.offset1) : "";
  } else if (instruction.memory_offset != 0) {
    text += " offset:" + (instruction.opcode == Opcode::ds_swizzle_b32
                              ? swizzle(static_cast<uint32_t>(instruction.memory_offset))
                              : fmt::format("{}", instruction.memory_offset));
  }
  text += instruction.gds ? " gds" : "";
}

void append_cache(std::string& text, const Instruction& instruction) {
  text += instruction.glc ? " glc" : "";
  text += instruction.slc ? " slc" : "";
  text += instruction.dlc ? " dlc" : "";
}

void flat_memory(std::string& text, const Instruction& instruction, uint32_t wave) {
  const Entry& entry = entry_of(instruction);
  if (instruction.destination.kind != OperandKind::none) {
    append_plain(text, instruction.destination, wave);
  }
  if (instruction.address.kind != OperandKind::none || instruction.format == Format::scratch) {
    append_plain(text, instruction.address, wave);
  }
  if (entry.sources[1] != Slot::none) {
    append_plain(text, instruction.data, wave);
  }
  if (instruction.format != Format::flat && (instruction.base.kind != OperandKind::none ||
                                             entry.sources[0] != Slot::none || instruction.format == Format::scratch)) {
    append_plain(text, instruction.base, wave);
  } else if (instruction.format == Format::global) {
    append(text, "off");
  }
  text += instruction.memory_offset != 0 ? fmt::format(" offset:{}", instruction.memory_offset) : "";
  append_cache(text, instruction);
  text += instruction.lds ? " lds" : "";
}

void buffer(std::string& text, const Instruction& instruction, uint32_t wave) {
  if (instruction.resource.kind == OperandKind::none) {
    return;
  }
  if (!instruction.lds) {
    append_plain(text, instruction.data, wave);
  }
  append_plain(text, instruction.address, wave);
  append_plain(text, instruction.resource, wave);
  append_plain(text, instruction.scalar_offset, wave);
  if (instruction.format == Format::mtbuf && instruction.data_format != 1) {
    const std::string_view name = buffer_format_name(instruction.data_format);
    text += name.empty() ? fmt::format(" format:{}", instruction.data_format) : fmt::format(" format:[{}]", name);
  }
  text += instruction.idxen ? " idxen" : "";
  text += instruction.offen ? " offen" : "";
  text += instruction.memory_offset != 0 ? fmt::format(" offset:{}", instruction.memory_offset) : "";
  append_cache(text, instruction);
  text += instruction.tfe ? " tfe" : "";
  text += instruction.lds ? " lds" : "";
}

}  // namespace

void memory(std::string& text, const Instruction& instruction, uint32_t wave) {
  switch (instruction.format) {
    case Format::smem:
      scalar_memory(text, instruction, wave);
      break;
    case Format::ds:
      local_memory(text, instruction, wave);
      break;
    case Format::mubuf:
    case Format::mtbuf:
      buffer(text, instruction, wave);
      break;
    default:
      flat_memory(text, instruction, wave);
      break;
  }
}

}  // namespace orrery::shader::text
