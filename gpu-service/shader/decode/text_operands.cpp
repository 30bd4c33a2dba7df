#include <fmt/format.h>
#include <bit>

#include "gpu-service/shader/decode/operands.hpp"
#include "gpu-service/shader/decode/text.hpp"

namespace orrery::shader::text {

using table::Slot;

namespace {

std::string range(std::string_view prefix, unsigned first, unsigned dwords) {
  return dwords == 1 ? fmt::format("{}{}", prefix, first) : fmt::format("{}[{}:{}]", prefix, first, first + dwords - 1);
}

std::string scalar_register(unsigned index, unsigned dwords) {
  if (index == kCodeNull) {
    return "null";
  }
  if (index == kCodeM0) {
    return "m0";
  }
  if (index == kCodeVcc || index == kCodeVcc + 1) {
    return dwords >= 2 ? "vcc" : index == kCodeVcc ? "vcc_lo" : "vcc_hi";
  }
  if (index == kCodeExec || index == kCodeExec + 1) {
    return dwords >= 2 ? "exec" : index == kCodeExec ? "exec_lo" : "exec_hi";
  }
  return index >= 108 ? range("ttmp", index - 108, dwords) : range("s", index, dwords);
}

const char* special(unsigned index) {
  switch (index) {
    case 235:
      return "src_shared_base";
    case 236:
      return "src_shared_limit";
    case 237:
      return "src_private_base";
    case 238:
      return "src_private_limit";
    case 239:
      return "src_pops_exiting_wave_id";
    case 251:
      return "src_vccz";
    case 252:
      return "src_execz";
    case 253:
      return "src_scc";
    default:
      return "src_lds_direct";
  }
}

struct InlineFloat {
  uint32_t single;
  uint16_t half;
  const char* text;
};
constexpr InlineFloat kInlineFloats[] = {
    {0x3f000000, 0x3800, "0.5"},  {0xbf000000, 0xb800, "-0.5"}, {0x3f800000, 0x3c00, "1.0"},
    {0xbf800000, 0xbc00, "-1.0"}, {0x40000000, 0x4000, "2.0"},  {0xc0000000, 0xc000, "-2.0"},
    {0x40800000, 0x4400, "4.0"},  {0xc0800000, 0xc400, "-4.0"}, {0x3e22f983, 0x3118, "0.15915494"},
};

// LLVM writes a literal that equals an inline constant as that constant.
std::string constant(const Operand& operand, Slot slot) {
  const uint32_t value = operand.value;
  if (slot == Slot::k1) {
    return fmt::format("0x{:x}", value);
  }
  if (operand.inline_float) {
    for (const InlineFloat& known : kInlineFloats) {
      if (value == known.single) {
        if (slot == Slot::i1) {
          return fmt::format("0x{:x}", known.half);
        }
        const bool wide = table::slot_dwords(slot) == 2;
        return wide && value == 0x3e22f983 ? "0.15915494309189532" : known.text;
      }
    }
  }
  if (slot == Slot::h1 || slot == Slot::i1) {
    const auto half = static_cast<uint16_t>(value);
    // LLVM looks at all 32 bits of an integer's literal and at the low 16 of a float's.
    const int32_t number = slot == Slot::i1 ? static_cast<int32_t>(value) : static_cast<int16_t>(half);
    if (number >= -16 && number <= 64) {
      return fmt::format("{}", number);
    }
    for (const InlineFloat& known : kInlineFloats) {
      if (slot == Slot::h1 && half == known.half) {
        return known.text;
      }
    }
    return fmt::format("0x{:x}", half);
  }
  const auto number = static_cast<int32_t>(value);
  if (number >= -16 && number <= 64) {
    return fmt::format("{}", number);
  }
  if (table::slot_dwords(slot) == 1) {
    for (const InlineFloat& known : kInlineFloats) {
      if (value == known.single) {
        return known.text;
      }
    }
  }
  return fmt::format("0x{:x}", value);
}

}  // namespace

std::string operand(const Operand& operand, Slot slot, uint32_t wave) {
  switch (operand.kind) {
    case OperandKind::none:
      return "off";
    case OperandKind::vgpr:
      return range("v", operand.index, operand.dwords);
    case OperandKind::sgpr: {
      if (!operand.lane_mask) {
        return scalar_register(operand.index, operand.dwords);
      }
      const unsigned aligned = wave == 64 ? operand.index & ~1u : operand.index;
      return scalar_register(operand.index == kCodeNull ? kCodeNull : aligned, wave == 64 ? 2 : 1);
    }
    case OperandKind::special:
      return special(operand.index);
    case OperandKind::constant:
    case OperandKind::literal:
      return constant(operand, slot);
  }
  return {};
}

std::string modified(const Operand& source, Slot slot, uint32_t wave) {
  std::string text = operand(source, slot, wave);
  if (source.absolute) {
    text = "|" + text + "|";
  }
  if (source.negate) {
    const bool is_number = source.kind == OperandKind::constant || source.kind == OperandKind::literal;
    text = is_number && !source.absolute ? "neg(" + text + ")" : "-" + text;
  }
  return source.sign_extend ? "sext(" + text + ")" : text;
}

void append(std::string& text, const std::string& operand) {
  text += text.find(' ') == std::string::npos ? " " : ", ";
  text += operand;
}

std::string immediate16(int32_t value) {
  return value >= 0 && value <= 64 ? fmt::format("{}", value) : fmt::format("0x{:x}", static_cast<uint16_t>(value));
}

}  // namespace orrery::shader::text
