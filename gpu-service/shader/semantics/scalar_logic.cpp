// Scalar logic. Its operands may be lane masks, so both forms are computed; the one nobody reads is dropped later.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/mask_operand.hpp"

namespace orrery::shader::semantics {
namespace {

enum class Logic : uint8_t { land, lor, lxor };

// (x or not x) op (y or not y), then perhaps inverted.
struct Function {
  Logic logic = Logic::land;
  bool invert_first = false, invert_second = false, invert_result = false;
};

Value apply(Builder& b, Function f, Value x, Value y) {
  if (f.invert_first) x = b.lnot(x);
  if (f.invert_second) y = b.lnot(y);
  const Value v = f.logic == Logic::land ? b.land(x, y) : f.logic == Logic::lor ? b.lor(x, y) : b.lxor(x, y);
  return f.invert_result ? b.lnot(v) : v;
}

MaskValue apply(Builder& b, Function f, MaskValue x, MaskValue y) {
  MaskValue result{apply(b, f, x.number, y.number), {}};
  if (x.boolean && y.boolean) result.boolean = apply(b, f, x.boolean, y.boolean);
  return result;
}

template <Function kFunction, uint32_t kDwords>
Outcome logic(Builder& b, const Instruction& i) {
  const MaskValue x = mask_operand(b, i.sources[0], kDwords), y = mask_operand(b, i.sources[1], kDwords);
  const MaskValue d = apply(b, kFunction, x, y);
  set_mask_result(b, i.destination.index, kDwords, d);
  b.set_scc(any_set(b, d));
  return {};
}

template <uint32_t kDwords>
Outcome invert(Builder& b, const Instruction& i) {
  MaskValue d = mask_operand(b, i.sources[0], kDwords);
  d.number = b.lnot(d.number);
  if (d.boolean) d.boolean = b.lnot(d.boolean);
  set_mask_result(b, i.destination.index, kDwords, d);
  b.set_scc(any_set(b, d));
  return {};
}

// exec = source 0 op exec; the destination gets exec as it was (save) or as it is now.
template <Function kFunction, uint32_t kDwords, bool kSave = true>
Outcome change_exec(Builder& b, const Instruction& i) {
  if (kDwords != (b.wave64() ? 2u : 1u)) {
    // Half of a wave64's mask, or both words of which a wave32 uses the first: numbers.
    const Type type = kDwords == 2 ? Type::u64 : Type::u32;
    const Value old = b.sgpr(Builder::kExec, type);
    const Value now = apply(b, kFunction, scalar(b, i, 0, type), old);
    b.set_sgpr(i.destination.index, kSave ? old : now);
    b.set_sgpr(Builder::kExec, now);
    b.set_scc(non_zero(b, now));
    return {};
  }
  const MaskValue x = mask_operand(b, i.sources[0], kDwords);
  const MaskValue old{b.sgpr(Builder::kExec, kDwords == 2 ? Type::u64 : Type::u32), b.exec()};
  const MaskValue now = apply(b, kFunction, x, old);
  set_mask_result(b, i.destination.index, kDwords, kSave ? old : now);
  set_mask_result(b, Builder::kExec, kDwords, now);
  b.set_scc(any_set(b, now));
  return {};
}

constexpr Function kAnd{Logic::land}, kOr{Logic::lor}, kXor{Logic::lxor};
constexpr Function kNand{Logic::land, false, false, true}, kNor{Logic::lor, false, false, true},
    kXnor{Logic::lxor, false, false, true};
constexpr Function kAndN1{Logic::land, true}, kOrN1{Logic::lor, true};
constexpr Function kAndN2{Logic::land, false, true}, kOrN2{Logic::lor, false, true};

}  // namespace

void add_scalar_logic(SemanticTable& t) {
  set(t, Opcode::s_and_b32, logic<kAnd, 1>);
  set(t, Opcode::s_and_b64, logic<kAnd, 2>);
  set(t, Opcode::s_or_b32, logic<kOr, 1>);
  set(t, Opcode::s_or_b64, logic<kOr, 2>);
  set(t, Opcode::s_xor_b32, logic<kXor, 1>);
  set(t, Opcode::s_xor_b64, logic<kXor, 2>);
  set(t, Opcode::s_andn2_b32, logic<kAndN2, 1>);
  set(t, Opcode::s_andn2_b64, logic<kAndN2, 2>);
  set(t, Opcode::s_orn2_b32, logic<kOrN2, 1>);
  set(t, Opcode::s_orn2_b64, logic<kOrN2, 2>);
  set(t, Opcode::s_nand_b32, logic<kNand, 1>);
  set(t, Opcode::s_nand_b64, logic<kNand, 2>);
  set(t, Opcode::s_nor_b32, logic<kNor, 1>);
  set(t, Opcode::s_nor_b64, logic<kNor, 2>);
  set(t, Opcode::s_xnor_b32, logic<kXnor, 1>);
  set(t, Opcode::s_xnor_b64, logic<kXnor, 2>);
  set(t, Opcode::s_not_b32, invert<1>);
  set(t, Opcode::s_not_b64, invert<2>);
  set(t, Opcode::s_and_saveexec_b32, change_exec<kAnd, 1>);
  set(t, Opcode::s_and_saveexec_b64, change_exec<kAnd, 2>);
  set(t, Opcode::s_or_saveexec_b32, change_exec<kOr, 1>);
  set(t, Opcode::s_or_saveexec_b64, change_exec<kOr, 2>);
  set(t, Opcode::s_xor_saveexec_b32, change_exec<kXor, 1>);
  set(t, Opcode::s_xor_saveexec_b64, change_exec<kXor, 2>);
  set(t, Opcode::s_andn2_saveexec_b32, change_exec<kAndN2, 1>);
  set(t, Opcode::s_andn2_saveexec_b64, change_exec<kAndN2, 2>);
  set(t, Opcode::s_orn2_saveexec_b32, change_exec<kOrN2, 1>);
  set(t, Opcode::s_orn2_saveexec_b64, change_exec<kOrN2, 2>);
  set(t, Opcode::s_nand_saveexec_b32, change_exec<kNand, 1>);
  set(t, Opcode::s_nand_saveexec_b64, change_exec<kNand, 2>);
  set(t, Opcode::s_nor_saveexec_b32, change_exec<kNor, 1>);
  set(t, Opcode::s_nor_saveexec_b64, change_exec<kNor, 2>);
  set(t, Opcode::s_xnor_saveexec_b32, change_exec<kXnor, 1>);
  set(t, Opcode::s_xnor_saveexec_b64, change_exec<kXnor, 2>);
  set(t, Opcode::s_andn1_saveexec_b32, change_exec<kAndN1, 1>);
  set(t, Opcode::s_andn1_saveexec_b64, change_exec<kAndN1, 2>);
  set(t, Opcode::s_orn1_saveexec_b32, change_exec<kOrN1, 1>);
  set(t, Opcode::s_orn1_saveexec_b64, change_exec<kOrN1, 2>);
  set(t, Opcode::s_andn1_wrexec_b32, change_exec<kAndN1, 1, false>);
  set(t, Opcode::s_andn1_wrexec_b64, change_exec<kAndN1, 2, false>);
  set(t, Opcode::s_andn2_wrexec_b32, change_exec<kAndN2, 1, false>);
  set(t, Opcode::s_andn2_wrexec_b64, change_exec<kAndN2, 2, false>);
}

}  // namespace orrery::shader::semantics
