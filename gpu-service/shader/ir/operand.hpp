// Operands of decoded instructions as IR values: registers, constants, modifiers, SDWA and DPP.
#pragma once

#include "gpu-service/shader/ir/semantic.hpp"

namespace orrery::shader::ir {

// An operand's bits as `type`. Constants: an inline float takes the operand's width (f16 constants stay in the low
// half); a 32-bit literal is zero-extended for u64 (sign_extend: sign-extended) and is the high half for f64.
// negate/absolute apply for float types. An SGPR that an instruction reads as a lane mask is read with Builder::mask
// instead.
Value read(Builder& b, const Operand& operand, Type type, bool sign_extend = false);

// Source i of a VALU instruction: read() with the instruction's SDWA selection and DPP (source 0) on top.
// 16-bit types: op_sel of VOP3 chooses the half. Float denormals are as MODE has them, or kept: for instructions that
// look at bits.
enum class Denormals : uint8_t { by_mode, kept };
Value source(Builder& b, const Instruction& instruction, uint32_t i, Type type,
             Denormals denormals = Denormals::by_mode);
// A float that an instruction reads otherwise, with its denormals as MODE has them.
Value input(Builder& b, Value v);
// The same for a result: MODE's denormals, then the instruction's clamp.
Value output(Builder& b, const Instruction& instruction, Value v);

// A VALU result: omod and clamp (floats; integer clamp is the instruction's own), SDWA destination, op_sel's half for
// 16-bit types of VOP3, then the register under exec. 16-bit results of VOP1/2/C without op_sel write the low half and
// keep the high half.
void result(Builder& b, const Instruction& instruction, Value v);

// A compare's mask: ANDed with exec and written to the instruction's destination (vcc, SGPRs, or exec for v_cmpx).
void result_mask(Builder& b, const Instruction& instruction, Value condition);

// The mask a VALU instruction reads as source i (v_cndmask, carry-in).
Value source_mask(Builder& b, const Instruction& instruction, uint32_t i);

}  // namespace orrery::shader::ir
