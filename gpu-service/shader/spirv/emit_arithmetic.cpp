// Integer, condition and conversion operations.
#include <spirv/unified1/GLSL.std.450.h>

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Op;
using ir::Type;

namespace {

spv::Op plain(Op op, bool condition) {
  switch (op) {
    case Op::iadd:
      return spv::OpIAdd;
    case Op::isub:
      return spv::OpISub;
    case Op::imul:
      return spv::OpIMul;
    case Op::iand:
      return condition ? spv::OpLogicalAnd : spv::OpBitwiseAnd;
    case Op::ior:
      return condition ? spv::OpLogicalOr : spv::OpBitwiseOr;
    case Op::ixor:
      return condition ? spv::OpLogicalNotEqual : spv::OpBitwiseXor;
    case Op::inot:
      return condition ? spv::OpLogicalNot : spv::OpNot;
    case Op::bit_count:
      return spv::OpBitCount;
    case Op::bit_reverse:
      return spv::OpBitReverse;
    case Op::bitfield_u:
      return spv::OpBitFieldUExtract;
    case Op::bitfield_s:
      return spv::OpBitFieldSExtract;
    case Op::ieq:
      return condition ? spv::OpLogicalEqual : spv::OpIEqual;
    case Op::ine:
      return condition ? spv::OpLogicalNotEqual : spv::OpINotEqual;
    case Op::ult:
      return spv::OpULessThan;
    case Op::ule:
      return spv::OpULessThanEqual;
    case Op::slt:
      return spv::OpSLessThan;
    case Op::sle:
      return spv::OpSLessThanEqual;
    case Op::feq:
      return spv::OpFOrdEqual;
    case Op::flt:
      return spv::OpFOrdLessThan;
    case Op::fle:
      return spv::OpFOrdLessThanEqual;
    case Op::fne:
      return spv::OpFOrdNotEqual;
    case Op::fueq:
      return spv::OpFUnordEqual;
    case Op::fult:
      return spv::OpFUnordLessThan;
    case Op::fule:
      return spv::OpFUnordLessThanEqual;
    case Op::fune:
      return spv::OpFUnordNotEqual;
    case Op::select:
      return spv::OpSelect;
    case Op::zext:
    case Op::truncate:
      return spv::OpUConvert;
    case Op::sext:
      return spv::OpSConvert;
    case Op::f_to_s:
      return spv::OpConvertFToS;
    case Op::f_to_u:
      return spv::OpConvertFToU;
    case Op::s_to_f:
      return spv::OpConvertSToF;
    case Op::u_to_f:
      return spv::OpConvertUToF;
    case Op::bitcast:
      return spv::OpBitcast;
    default:
      return spv::OpNop;
  }
}

uint32_t extended_of(Op op) {
  switch (op) {
    case Op::umin:
      return GLSLstd450UMin;
    case Op::umax:
      return GLSLstd450UMax;
    case Op::smin:
      return GLSLstd450SMin;
    case Op::smax:
      return GLSLstd450SMax;
    case Op::find_lsb:
      return GLSLstd450FindILsb;
    case Op::find_umsb:
      return GLSLstd450FindUMsb;
    case Op::find_smsb:
      return GLSLstd450FindSMsb;
    default:
      return 0;
  }
}

}  // namespace

bool Emitter::emit_arithmetic(uint32_t inst, const ir::Inst& i) {
  const auto args = f_.args(i);
  const uint32_t end = end_slot(i);
  const Type operand = args.empty() ? Type::none : f_.type(args[0]);
  if (const spv::Op op = plain(i.op, operand == Type::b1); op != spv::OpNop) {
    const Id type = module_.type(i.type);
    for (uint32_t slot = first_slot(); slot < end; ++slot) {
      const Id result = define(inst, slot);
      code_->push_back(static_cast<uint32_t>((args.size() + 3) << 16) | static_cast<uint32_t>(op));
      const size_t at = code_->size();
      code_->resize(at + 2 + args.size());
      (*code_)[at] = type;
      (*code_)[at + 1] = result;
      for (size_t n = 0; n < args.size(); ++n) (*code_)[at + 2 + n] = operand_id(inst, args[n], slot);
    }
    return true;
  }
  if (const uint32_t ext = extended_of(i.op)) {
    const Id type = module_.type(i.type);
    for (uint32_t slot = first_slot(); slot < end; ++slot) {
      const Id result = define(inst, slot);
      if (args.size() == 1)
        code(spv::OpExtInst, {type, result, module_.glsl(), ext, id(args[0], slot)});
      else
        code(spv::OpExtInst, {type, result, module_.glsl(), ext, id(args[0], slot), id(args[1], slot)});
    }
    return true;
  }
  switch (i.op) {
    case Op::shl:
    case Op::lshr:
    case Op::ashr: {
      const spv::Op op = i.op == Op::shl    ? spv::OpShiftLeftLogical
                         : i.op == Op::lshr ? spv::OpShiftRightLogical
                                            : spv::OpShiftRightArithmetic;
      const Id type = module_.type(i.type);
      const ir::Inst& by = f_.at(args[1]);
      const bool masked = by.op == Op::constant && f_.constant_bits(by) < ir::bits_of(i.type);
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        Id shift = id(args[1], slot);
        if (!masked)
          shift = value(spv::OpBitwiseAnd, module_.type(by.type),
                        {shift, module_.constant(by.type, ir::bits_of(i.type) - 1)});
        code(op, {type, define(inst, slot), id(args[0], slot), shift});
      }
      return true;
    }
    case Op::umul_high:
    case Op::smul_high: {
      const Id type = uint_type();
      const Id pair = module_.pair_type();
      const spv::Op op = i.op == Op::umul_high ? spv::OpUMulExtended : spv::OpSMulExtended;
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        const Id both = value(op, pair, {id(args[0], slot), id(args[1], slot)});
        code(spv::OpCompositeExtract, {type, define(inst, slot), both, 1});
      }
      return true;
    }
    case Op::pack64: {
      const Id vec = module_.vector(uint_type(), 2), type = module_.type(i.type);
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        const Id both = value(spv::OpCompositeConstruct, vec, {id(args[0], slot), id(args[1], slot)});
        code(spv::OpBitcast, {type, define(inst, slot), both});
      }
      return true;
    }
    case Op::low32: {
      for (uint32_t slot = first_slot(); slot < end; ++slot)
        code(spv::OpUConvert, {uint_type(), define(inst, slot), id(args[0], slot)});
      return true;
    }
    case Op::high32: {
      const Id wide = module_.type(Type::u64);
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        const Id shifted = value(spv::OpShiftRightLogical, wide, {id(args[0], slot), u32(32)});
        code(spv::OpUConvert, {uint_type(), define(inst, slot), shifted});
      }
      return true;
    }
    case Op::component: {
      const ir::Inst& whole = f_.at(args[0]);
      for (uint32_t slot = first_slot(); slot < end; ++slot)
        alias(inst, slot, define(args[0].id, slots(whole) == 1 ? 0 : slot, i.imm));
      return true;
    }
    default:
      return false;
  }
}

}  // namespace orrery::shader::spirv
