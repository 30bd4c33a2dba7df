#include "gpu-service/shader/ir/operand.hpp"

#include <bit>

#include "gpu-service/shader/ir/dpp.hpp"
#include "gpu-service/shader/ir/rounding.hpp"

namespace orrery::shader::ir {
namespace {

uint32_t half_of_inline_float(uint32_t bits) {
  switch (bits) {
    case 0x3f000000:
      return 0x3800;
    case 0xbf000000:
      return 0xb800;
    case 0x3f800000:
      return 0x3c00;
    case 0xbf800000:
      return 0xbc00;
    case 0x40000000:
      return 0x4000;
    case 0xc0000000:
      return 0xc000;
    case 0x40800000:
      return 0x4400;
    case 0xc0800000:
      return 0xc400;
    default:
      return 0x3118;  // 1 / (2 pi)
  }
}

uint64_t double_of_inline_float(uint32_t bits) {
  if (bits == 0x3e22f983) return 0x3fc45f306dc9c882;  // 1 / (2 pi), to the precision of a double
  return std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(bits)));
}

Value constant_operand(Builder& b, const Operand& operand, Type type, bool sign_extend) {
  const uint32_t width = bits_of(type);
  if (operand.kind == OperandKind::constant) {
    if (operand.inline_float) {
      if (width == 64) return b.constant(type, double_of_inline_float(operand.value));
      return b.constant(type, width == 16 ? half_of_inline_float(operand.value) : operand.value);
    }
    return b.constant(type, static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(operand.value))));
  }
  if (type == Type::f64) return b.constant(type, static_cast<uint64_t>(operand.value) << 32);
  if (sign_extend)
    return b.constant(type, static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(operand.value))));
  return b.constant(type, operand.value);
}

Value special_operand(Builder& b, const Operand& operand, Type type) {
  auto flag = [&](Value v) { return b.select(v, b.u32(1), b.u32(0)); };
  Value word;
  switch (operand.index) {
    case 235:
      return b.constant(type, bits_of(type) == 64 ? kSharedAperture : kSharedAperture >> 32);
    case 236:
      return b.constant(type, bits_of(type) == 64 ? kSharedAperture | 0xffffffff : (kSharedAperture >> 32));
    case 237:
      return b.constant(type, bits_of(type) == 64 ? kPrivateAperture : kPrivateAperture >> 32);
    case 238:
      return b.constant(type, bits_of(type) == 64 ? kPrivateAperture | 0xffffffff : (kPrivateAperture >> 32));
    case 251:
      word = flag(
          b.lnot(b.mask_nonzero(b.mask(Builder::kVcc), b.sgpr(Builder::kVcc, b.wave64() ? Type::u64 : Type::u32))));
      break;
    case 252:
      word = flag(b.lnot(b.any(b.exec())));
      break;
    case 253:
      word = flag(b.scc());
      break;
    default:
      return {};
  }
  if (bits_of(type) == 64) return b.as(type, b.zext(Type::u64, word));
  return b.as(type, bits_of(type) == 16 ? b.truncate(Type::u16, word) : word);
}

Value raw(Builder& b, const Operand& operand, Type type, bool sign_extend) {
  switch (operand.kind) {
    case OperandKind::sgpr:
      return b.sgpr(operand.index, type);
    case OperandKind::vgpr:
      return b.vgpr(operand.index, type);
    case OperandKind::constant:
    case OperandKind::literal:
      return constant_operand(b, operand, type, sign_extend);
    case OperandKind::special:
      if (const Value v = special_operand(b, operand, type); v) return v;
      b.refuse(operand.index == 254   ? "reads lds_direct"
               : operand.index == 239 ? "reads pops_exiting_wave_id"
                                      : "reads special operand " + std::to_string(operand.index));
      break;
    case OperandKind::none:
      break;
  }
  return b.constant(type, 0);
}

Value modified(Builder& b, const Operand& operand, Type type, Value v) {
  if (!is_float(type)) return v;
  if (operand.absolute) v = b.op(Op::fabs, v);
  if (operand.negate) v = b.op(Op::fneg, v);
  return v;
}

struct Field {
  uint32_t shift, bits;
};
Field field_of(SdwaSelect select) {
  switch (select) {
    case SdwaSelect::byte0:
      return {0, 8};
    case SdwaSelect::byte1:
      return {8, 8};
    case SdwaSelect::byte2:
      return {16, 8};
    case SdwaSelect::byte3:
      return {24, 8};
    case SdwaSelect::word0:
      return {0, 16};
    case SdwaSelect::word1:
      return {16, 16};
    case SdwaSelect::dword:
      return {0, 32};
  }
  return {0, 32};
}

Value low_half(Builder& b, Value word, Type type) { return b.as(type, b.truncate(Type::u16, word)); }

}  // namespace

Value read(Builder& b, const Operand& operand, Type type, bool sign_extend) {
  return modified(b, operand, type, raw(b, operand, type, sign_extend));
}

namespace {

Value with_bits(Builder& b, const Instruction& instruction, uint32_t i, Type type) {
  const Operand& operand = instruction.sources[i];
  const bool dpp = i == 0 && instruction.dpp.kind != Dpp::Kind::none;
  if (instruction.sdwa.present && (operand.kind == OperandKind::vgpr || operand.kind == OperandKind::sgpr) &&
      bits_of(type) <= 32) {
    Value v = raw(b, operand, Type::u32, false);
    const Field field = field_of(operand.select);
    if (field.bits < 32)
      v = b.op(operand.sign_extend ? Op::bitfield_s : Op::bitfield_u, Type::u32,
               {v, b.u32(field.shift), b.u32(field.bits)});
    return modified(b, operand, type, bits_of(type) == 16 ? low_half(b, v, type) : b.as(type, v));
  }
  const bool high = bits_of(type) == 16 && instruction.format == Format::vop3 && (instruction.op_select >> i) & 1;
  if (high && (operand.kind == OperandKind::vgpr || operand.kind == OperandKind::sgpr)) {
    const Value v = b.lshr(raw(b, operand, Type::u32, false), b.u32(16));
    return modified(b, operand, type, low_half(b, v, type));
  }
  if (dpp) {
    if (bits_of(type) == 64) {
      const Value whole = raw(b, operand, Type::u64, false);
      const Value moved =
          b.pack64(dpp_read(b, instruction.dpp, b.low32(whole)), dpp_read(b, instruction.dpp, b.high32(whole)));
      return modified(b, operand, type, b.as(type, moved));
    }
    const Value v = dpp_read(b, instruction.dpp, raw(b, operand, Type::u32, false));
    return modified(b, operand, type, bits_of(type) == 16 ? low_half(b, v, type) : b.as(type, v));
  }
  return read(b, operand, type);
}

}  // namespace

Value source(Builder& b, const Instruction& instruction, uint32_t i, Type type, Denormals denormals) {
  const Value v = with_bits(b, instruction, i, type);
  return denormals == Denormals::by_mode && is_float(type) ? input(b, v) : v;
}

Value input(Builder& b, Value v) { return b.mode().keeps_inputs(b.type(v)) ? v : b.flush(v); }

Value output(Builder& b, const Instruction& instruction, Value v) {
  const FloatMode mode = b.mode();
  if (!mode.keeps_results(b.type(v))) v = b.flush(v);
  if (!instruction.clamp) return v;
  const Value cut = b.op(Op::fsaturate, v);
  // Without DX10_CLAMP a NaN stays one.
  return mode.dx10_clamp() ? cut : b.select(b.compare(Op::fune, v, v), v, cut);
}

void result(Builder& b, const Instruction& instruction, Value v) {
  const Operand& destination = instruction.destination;
  const Type type = b.type(v);
  if (is_float(type)) {
    // ISA document, "Output modifiers": ignored where denormal results are kept and in IEEE mode; -0 becomes +0.
    const FloatMode mode = b.mode();
    if (instruction.output_modifier != 0 && !mode.keeps_results(type) && !mode.ieee()) {
      constexpr double kFactors[] = {1, 2, 4, 0.5};
      const double factor = kFactors[instruction.output_modifier];
      const auto single = std::bit_cast<uint32_t>(static_cast<float>(factor));
      v = rounded_mul(b, v,
                      b.constant(type, type == Type::f64   ? std::bit_cast<uint64_t>(factor)
                                       : type == Type::f32 ? single
                                                           : half_of_inline_float(single)));
      v = b.flush(v);
      v = b.select(b.compare(Op::feq, v, b.constant(type, 0)), b.constant(type, 0), v);
    }
    v = output(b, instruction, v);
  }
  if (destination.kind == OperandKind::sgpr) {
    b.set_sgpr(destination.index, b.per_lane(v) ? b.read_first_lane(v) : v);
    return;
  }
  const bool half = bits_of(type) == 16;
  if (instruction.sdwa.present && bits_of(type) <= 32) {
    const Field field = field_of(instruction.sdwa.destination);
    Value word = half ? b.zext(Type::u32, b.as(Type::u16, v)) : b.as(Type::u32, v);
    if (field.bits < 32) {
      const uint32_t mask = ((1u << field.bits) - 1) << field.shift;
      if (instruction.sdwa.unused == 1) {
        word = b.shl(b.op(Op::bitfield_s, Type::u32, {word, b.u32(0), b.u32(field.bits)}), b.u32(field.shift));
      } else {
        word = b.land(b.shl(word, b.u32(field.shift)), b.u32(mask));
        if (instruction.sdwa.unused == 2) word = b.lor(b.land(b.vgpr(destination.index), b.u32(~mask)), word);
      }
    }
    v = word;
  } else if (half) {
    const Value old = b.vgpr(destination.index);
    Value word = b.zext(Type::u32, b.as(Type::u16, v));
    if (instruction.format == Format::vop3 && (instruction.op_select & 8)) {
      word = b.lor(b.shl(word, b.u32(16)), b.land(old, b.u32(0xffff)));
    } else {
      word = b.lor(b.land(old, b.u32(0xffff0000)), word);
    }
    v = word;
  }
  if (instruction.dpp.kind != Dpp::Kind::none) {
    if (const Value lanes = dpp_writes(b, instruction.dpp); lanes) {
      v = b.select(lanes, v, b.vgpr(destination.index, b.type(v)));
    }
  }
  b.set_vgpr(destination.index, v);
}

void result_mask(Builder& b, const Instruction& instruction, Value condition) {
  b.set_mask(instruction.destination.index, b.land(b.exec(), condition));
}

Value source_mask(Builder& b, const Instruction& instruction, uint32_t i) {
  const Operand& operand = instruction.sources[i];
  if (operand.kind == OperandKind::sgpr) return b.mask(operand.index);
  const Value word = read(b, operand, b.wave64() ? Type::u64 : Type::u32, true);
  if (b.wave64()) return b.op(Op::lane_bit, Type::b1, {b.low32(word), b.high32(word)});
  return b.op(Op::lane_bit, Type::b1, {word});
}

}  // namespace orrery::shader::ir
