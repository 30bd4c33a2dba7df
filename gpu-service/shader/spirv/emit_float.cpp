// Floating-point operations. Everything that a driver might contract or reassociate carries NoContraction.
#include <spirv/unified1/GLSL.std.450.h>

#include "gpu-service/shader/ir/float_shape.hpp"
#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

using ir::Op;
using ir::Type;

namespace {

uint32_t extended_of(Op op) {
  switch (op) {
    case Op::fabs:
      return GLSLstd450FAbs;
    case Op::fmin:
      return GLSLstd450NMin;
    case Op::fmax:
      return GLSLstd450NMax;
    case Op::fsqrt:
      return GLSLstd450Sqrt;
    case Op::frsq:
      return GLSLstd450InverseSqrt;
    case Op::ffloor:
      return GLSLstd450Floor;
    case Op::fceil:
      return GLSLstd450Ceil;
    case Op::ftrunc:
      return GLSLstd450Trunc;
    case Op::frint:
      return GLSLstd450RoundEven;
    case Op::ffract:
      return GLSLstd450Fract;
    case Op::fexp2:
      return GLSLstd450Exp2;
    case Op::flog2:
      return GLSLstd450Log2;
    case Op::fsin:
      return GLSLstd450Sin;
    case Op::fcos:
      return GLSLstd450Cos;
    default:
      return 0;
  }
}

}  // namespace

bool Emitter::emit_float(uint32_t inst, const ir::Inst& i) {
  const auto args = f_.args(i);
  const uint32_t end = end_slot(i);
  const Id type = module_.type(i.type);
  auto exact = [&](Id result) { return module_.exact(result); };
  spv::Op op = spv::OpNop;
  switch (i.op) {
    case Op::fadd:
      op = spv::OpFAdd;
      break;
    case Op::fsub:
      op = spv::OpFSub;
      break;
    case Op::fmul:
      op = spv::OpFMul;
      break;
    case Op::fdiv:
      op = spv::OpFDiv;
      break;
    default:
      break;
  }
  if (op != spv::OpNop) {
    for (uint32_t slot = first_slot(); slot < end; ++slot)
      code(op, {type, exact(define(inst, slot)), operand_id(inst, args[0], slot), operand_id(inst, args[1], slot)});
    return true;
  }
  if (i.type == Type::f16 && (i.op == Op::fneg || i.op == Op::fabs)) {
    // Drivers compute these in floats, which makes signaling NaNs quiet.
    const Id bits = module_.type(Type::u16);
    const bool negates = i.op == Op::fneg;
    const Id mask = module_.constant(Type::u16, negates ? 0x8000 : 0x7fff);
    for (uint32_t slot = first_slot(); slot < end; ++slot) {
      const Id raw = value(spv::OpBitcast, bits, {id(args[0], slot)});
      const Id changed = value(negates ? spv::OpBitwiseXor : spv::OpBitwiseAnd, bits, {raw, mask});
      code(spv::OpBitcast, {type, define(inst, slot), changed});
    }
    return true;
  }
  if (const uint32_t ext = extended_of(i.op)) {
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
    case Op::fneg: {
      // OpFNegate need not flip the sign of zero or NaN everywhere; the bits are what the guest means.
      for (uint32_t slot = first_slot(); slot < end; ++slot)
        code(spv::OpFNegate, {type, define(inst, slot), id(args[0], slot)});
      return true;
    }
    case Op::ffma: {
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        const Id a = operand_id(inst, args[0], slot), b = operand_id(inst, args[1], slot);
        const Id c = operand_id(inst, args[2], slot);
        if (o_.host.fuses_fma && i.type == Type::f32 && !o_.host.fma_keeps_denormals && i.imm == 0) {
          fma_with_denormals(inst, slot);
        } else if (o_.host.fuses_fma) {
          code(spv::OpExtInst, {type, define(inst, slot), module_.glsl(), GLSLstd450Fma, a, b, c});
        } else {
          const Routine r = i.type == Type::f16   ? Routine::fma_16
                            : i.type == Type::f32 ? Routine::fma_32
                                                  : Routine::fma_64;
          code(spv::OpFunctionCall, {type, define(inst, slot), routine(r), a, b, c});
        }
      }
      return true;
    }
    case Op::frcp: {
      const Id one = module_.constant(i.type, i.type == Type::f16   ? 0x3c00u
                                              : i.type == Type::f32 ? 0x3f800000u
                                                                    : 0x3ff0000000000000u);
      for (uint32_t slot = first_slot(); slot < end; ++slot)
        code(spv::OpFDiv, {type, exact(define(inst, slot)), one, id(args[0], slot)});
      return true;
    }
    case Op::fldexp: {
      const Id exponent_type = uint_type();
      static_cast<void>(exponent_type);
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        code(spv::OpExtInst,
             {type, define(inst, slot), module_.glsl(), GLSLstd450Ldexp, id(args[0], slot), id(args[1], slot)});
      }
      return true;
    }
    case Op::fsaturate: {
      const Id zero = module_.constant(i.type, 0);
      const Id one = module_.constant(i.type, i.type == Type::f16   ? 0x3c00u
                                              : i.type == Type::f32 ? 0x3f800000u
                                                                    : 0x3ff0000000000000u);
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        if (!o_.host.orders_zeros || i.type != Type::f32) {
          // NaN and -0 compare false.
          const Id above = value(spv::OpFOrdLessThan, bool_type(), {zero, id(args[0], slot)});
          const Id below = value(spv::OpFOrdLessThan, bool_type(), {id(args[0], slot), one});
          const Id cut = value(spv::OpSelect, type, {below, id(args[0], slot), one});
          code(spv::OpSelect, {type, define(inst, slot), above, cut, zero});
          continue;
        }
        // max with the number wins over NaN, so NaN becomes 0.
        const Id low = extended(GLSLstd450NMax, type, {id(args[0], slot), zero});
        code(spv::OpExtInst, {type, define(inst, slot), module_.glsl(), GLSLstd450NMin, low, one});
      }
      return true;
    }
    case Op::fflush: {
      const ir::FloatShape shape = ir::shape_of(i.type);
      const Id bits = module_.type(shape.integer);
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        const Id raw = value(spv::OpBitcast, bits, {id(args[0], slot)});
        const Id field = value(spv::OpBitwiseAnd, bits, {raw, module_.constant(shape.integer, shape.infinity())});
        const Id tiny = value(spv::OpIEqual, bool_type(), {field, module_.constant(shape.integer, 0)});
        const Id zero = value(spv::OpBitwiseAnd, bits, {raw, module_.constant(shape.integer, shape.sign_bit())});
        code(spv::OpBitcast, {type, define(inst, slot), value(spv::OpSelect, bits, {tiny, zero, raw})});
      }
      return true;
    }
    case Op::f_to_f: {
      for (uint32_t slot = first_slot(); slot < end; ++slot) {
        const Id result = define(inst, slot);
        code(spv::OpFConvert, {type, result, id(args[0], slot)});
        if (i.imm == 1) module_.decorate(result, spv::DecorationFPRoundingMode, {spv::FPRoundingModeRTZ});
      }
      return true;
    }
    default:
      return false;
  }
}

}  // namespace orrery::shader::spirv
