// Instructions to steps: operands resolved, constants widened to the type that reads them.
#include "gpu-service/shader/decode/encoding.hpp"
#include "gpu-service/shader/decode/image_form.hpp"
#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

using table::Slot;

// An inline or literal constant as an operand of this slot reads it. 64-bit literals: the high half of a double,
// sign-extended for signed integers, zero-extended for the rest.
uint64_t constant_value(const Operand& operand, Slot slot, std::string_view name) {
  const bool is_double = name.find("f64") != name.npos;
  if (operand.kind == OperandKind::literal) {
    if (table::slot_dwords(slot) != 2) {
      return operand.value;
    }
    if (is_double) {
      return uint64_t{operand.value} << 32;
    }
    return name.ends_with("i64") ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(operand.value)}) : operand.value;
  }
  if (!operand.inline_float) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(operand.value)});
  }
  const auto value = std::bit_cast<float>(operand.value);
  const bool inverse_two_pi = operand.value == 0x3e22f983;
  if (table::slot_dwords(slot) == 2) {
    return std::bit_cast<uint64_t>(inverse_two_pi ? 0.15915494309189532 : double{value});
  }
  if (slot == Slot::h1 || slot == Slot::i1) {
    return inverse_two_pi ? 0x3118 : half_from_double(value, 0);
  }
  return operand.value;
}

// Packed 16-bit instructions read an inline float constant as a half in the low 16 bits.
uint64_t packed_constant(const Operand& operand, std::string_view name) {
  const bool halves = name.find("f16") != name.npos && !name.starts_with("v_fma_mix") && !name.starts_with("v_dot");
  if (operand.kind == OperandKind::constant && operand.inline_float && halves) {
    return operand.value == 0x3e22f983 ? 0x3118 : half_from_double(std::bit_cast<float>(operand.value), 0);
  }
  return operand.kind == OperandKind::constant && !operand.inline_float
             ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(operand.value)})
             : operand.value;
}

Source source_of(const Operand& operand, Slot slot, const Instruction& instruction) {
  Source source;
  source.negate = operand.negate;
  source.absolute = operand.absolute;
  source.negate_high = operand.negate_high;
  source.sign_extend = operand.sign_extend;
  source.select = operand.select;
  source.index = operand.index;
  const std::string_view name = mnemonic(instruction.opcode);
  switch (operand.kind) {
    case OperandKind::none:
      source.kind = SourceKind::none;
      break;
    case OperandKind::vgpr:
      source.kind = SourceKind::vgpr;
      break;
    case OperandKind::sgpr:
      source.kind = SourceKind::sgpr;
      break;
    case OperandKind::special:
      source.kind = SourceKind::special;
      break;
    case OperandKind::constant:
    case OperandKind::literal:
      source.kind = SourceKind::constant;
      source.value =
          instruction.format == Format::vop3p ? packed_constant(operand, name) : constant_value(operand, slot, name);
      break;
  }
  return source;
}

void without_semantics(Wave& wave, const Step& step) { wave.refuse(step, "no semantics in the interpreter"); }

// Specials that only some readers know: lds_direct and the apertures as 32-bit values.
bool has_unknown_special(const Instruction& instruction) {
  for (unsigned i = 0; i < instruction.source_count; ++i) {
    const Operand& source = instruction.sources[i];
    const bool wide = source.dwords == 2;
    if (source.kind == OperandKind::special &&
        (source.index == 254 || source.index == 239 || (source.index < 239 && !wide))) {
      return true;
    }
  }
  return false;
}

bool is_vector(Format format) {
  switch (format) {
    case Format::sop1:
    case Format::sop2:
    case Format::sopc:
    case Format::sopk:
    case Format::sopp:
    case Format::smem:
      return false;
    default:
      return true;
  }
}

}  // namespace

Handler handler_of(const Instruction& instruction) {
  if (has_unknown_special(instruction)) {
    return nullptr;
  }
  switch (instruction.format) {
    case Format::sop1:
    case Format::sop2:
    case Format::sopc: {
      const Handler handler = scalar_alu_handler(instruction.opcode);
      return handler != nullptr ? handler : scalar_control_handler(instruction);
    }
    case Format::sopk:
    case Format::sopp:
      return scalar_control_handler(instruction);
    case Format::smem:
      return scalar_memory_handler(instruction.opcode);
    case Format::vop1:
    case Format::vop2:
    case Format::vopc:
    case Format::vop3:
    case Format::vop3p:
      for (const auto family : {vector_integer_handler, vector_float_handler, vector_compare_handler,
                                vector_convert_handler, vector_short_integer_handler, vector_double_handler,
                                vector_half_handler, vector_packed_handler, vector_lanes_handler}) {
        if (const Handler handler = family(instruction.opcode)) {
          return handler;
        }
      }
      return nullptr;
    case Format::ds:
      return local_memory_handler(instruction);
    case Format::mubuf:
    case Format::mtbuf:
      return buffer_memory_handler(instruction);
    case Format::flat:
    case Format::global:
    case Format::scratch:
      return flat_memory_handler(instruction);
    case Format::mimg:
      return image_handler(instruction);
    case Format::vintrp:

    case Format::exp:
      return nullptr;
  }
  return nullptr;
}

Step prepare(const Instruction& instruction) {
  Step step;
  step.instruction = &instruction;
  step.run = handler_of(instruction);
  if (step.run == nullptr) {
    step.run = without_semantics;
  }
  const table::Entry& entry = entry_of(instruction);
  for (unsigned i = 0; i < instruction.source_count; ++i) {
    step.sources[i] = source_of(instruction.sources[i], source_slot(instruction, entry, i), instruction);
  }
  step.has_destination = instruction.destination.kind != OperandKind::none;
  step.destination = instruction.destination.index;
  step.destination2 = instruction.destination2.index;
  step.is_vector = is_vector(instruction.format);
  const auto shape = instruction.format == Format::mimg
                         ? image_atomic_shape(instruction.opcode, image_atomic_is_wide(instruction))
                         : memory_shape(instruction.opcode);
  if (shape) {
    step.memory = *shape;
  }
  return step;
}

bool supports(const Instruction& instruction) { return handler_of(instruction) != nullptr; }

std::vector<ShaderRefusal> unsupported(const Program& program) {
  std::vector<ShaderRefusal> result;
  for (const Instruction& instruction : program.instructions) {
    if (!supports(instruction)) {
      result.push_back(
          {instruction.offset, std::string(mnemonic(instruction.opcode)), "no semantics in the interpreter"});
    }
  }
  return result;
}

}  // namespace orrery::shader::interpret
