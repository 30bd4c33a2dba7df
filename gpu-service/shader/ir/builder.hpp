// What semantics functions write with: operations (folded and numbered as they are made) and the guest's registers.
//
// Registers. A VGPR holds 32 bits per lane and is written under exec. An SGPR holds a number (uniform); every register
// that can hold a lane mask (in wave32 each SGPR, in wave64 each even pair; vcc; exec) has a boolean per lane beside
// its number. Writing one defines the other when it is read; scalar logic writes both. So a mask that is never read as
// a number costs no ballot.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "gpu-service/shader/decode/instruction.hpp"
#include "gpu-service/shader/ir/float_mode.hpp"
#include "gpu-service/shader/ir/function.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::ir {

// A variable that the loop of a header block writes.
struct LoopWrite {
  uint32_t header, variable;
};
// Beyond what the instructions' operands tell.
struct LoopWrites {
  std::vector<LoopWrite> more;
  bool any = false;  // every loop may write every variable
};

class Builder {
 public:
  Builder(Function& function, const Program& program, const TranslateOptions& options, const LoopWrites& known = {});
  ~Builder();

  const TranslateOptions& options() const { return options_; }
  bool wave64() const { return options_.layout.wave == 64; }
  const Function& function() const { return function_; }
  Type type(Value v) const { return function_.type(v); }
  bool per_lane(Value v) const { return function_.insts[v.id].per_lane; }
  // MODE where the next instruction stands; the wave starts with what rsrc1 says.
  FloatMode mode() const { return mode_; }
  void set_mode(FloatMode mode) { mode_ = mode; }
  // For what is met where there is no Outcome to give: the instruction is refused (the first reason counts).
  void refuse(std::string reason) {
    if (refusal_.empty()) refusal_ = std::move(reason);
  }
  std::string take_refusal() { return std::exchange(refusal_, {}); }

  // Constants.
  Value constant(Type type, uint64_t bits);
  Value b1(bool v) { return constant(Type::b1, v); }
  Value u32(uint32_t v) { return constant(Type::u32, v); }
  Value u64(uint64_t v) { return constant(Type::u64, v); }
  Value f32(float v);
  Value f64(double v);
  // The constant's bits, when v is one.
  bool is_constant(Value v, uint64_t& bits) const;
  bool is_true(Value v) const;
  bool is_false(Value v) const;

  // Any operation; the result type of compares is b1, of conversions must be given. imm as operations.inc says.
  Value op(Op op, Type type, std::initializer_list<Value> args, uint32_t imm = 0);
  Value op(Op op, Type type, std::span<const Value> args, uint32_t imm = 0);
  // Result type = type of the (last) operand.
  Value op(Op op, Value a);
  Value op(Op op, Value a, Value b);
  Value op(Op op, Value a, Value b, Value c);
  Value compare(Op op, Value a, Value b) { return this->op(op, Type::b1, {a, b}); }
  Value select(Value condition, Value when_true, Value when_false) {
    return op(Op::select, condition, when_true, when_false);
  }
  // Shorthands.
  Value add(Value a, Value b) { return op(Op::iadd, a, b); }
  Value sub(Value a, Value b) { return op(Op::isub, a, b); }
  Value land(Value a, Value b) { return op(Op::iand, a, b); }
  Value lor(Value a, Value b) { return op(Op::ior, a, b); }
  Value lxor(Value a, Value b) { return op(Op::ixor, a, b); }
  Value lnot(Value a) { return op(Op::inot, a); }
  Value shl(Value a, Value count) { return op(Op::shl, a, count); }
  Value lshr(Value a, Value count) { return op(Op::lshr, a, count); }
  Value ashr(Value a, Value count) { return op(Op::ashr, a, count); }
  // The same bits as another type of the same width (u32 <-> f32, ...); nothing when the type is right.
  Value as(Type type, Value v);
  // Integer of another width.
  Value zext(Type type, Value v);
  Value sext(Type type, Value v);
  Value truncate(Type type, Value v);
  Value pack64(Value low, Value high) { return op(Op::pack64, Type::u64, {low, high}); }
  // A denormal becomes the zero of its sign; nothing where v can be none.
  Value flush(Value v);
  Value low32(Value v);  // of any 64-bit type
  Value high32(Value v);

  // Registers. Numbers are the hardware's: SGPR 0..105, 106/107 vcc, 124 m0, 125 null (reads 0, writes vanish), 126/127
  // exec.
  Value vgpr(uint32_t index, Type type = Type::u32);  // 64-bit types: index and index + 1; 16-bit types: the low half
  Value sgpr(uint32_t index, Type type = Type::u32);  // likewise; the number
  // The register (pair) as a lane mask: b1 per lane. Inactive lanes have the bit that is stored for them.
  Value mask(uint32_t index);
  Value exec() { return mask(kExec); }
  // A wave of a partial group that no thread is left for is not there on hardware. Here it runs to its end, so that the
  // others meet it at barriers, with an execution mask that stays 0; what a wave does without one asks this (b1,
  // uniform).
  Value wave_exists();
  Value scc();
  // Under exec: lanes that are off keep their value. 64-bit values write two registers; b1 is not allowed; 16-bit
  // values are zero-extended (use set_vgpr_low/high to keep the other half).
  void set_vgpr(uint32_t index, Value v);
  // Every lane, exec or not (v_writelane composes this).
  void set_vgpr_all_lanes(uint32_t index, Value v);
  // The number; v must be uniform. 64-bit values write two registers.
  void set_sgpr(uint32_t index, Value v);
  // A mask made from lanes. Bits of lanes that are off must already be what the instruction writes (compares write 0:
  // and with exec).
  void set_mask(uint32_t index, Value boolean);
  // Scalar logic on masks: both forms of the same mask (u32 in wave32, u64 in wave64).
  void set_mask(uint32_t index, Value boolean, Value number);
  void set_scc(Value v);  // b1 uniform
  // SCC of scalar logic on masks: number (u32 / u64) and boolean are the same mask; which one is tested is chosen
  // later.
  Value mask_nonzero(Value boolean, Value number);
  // True when this register (pair) can hold a lane mask as an operand of this many dwords: wave32 and 1, wave64 and an
  // even pair.
  bool mask_capable(uint32_t index, uint32_t dwords) const;

  // Lanes.
  Value ballot(Value boolean);  // u32 in wave32, u64 in wave64
  Value any(Value boolean) { return op(Op::any, Type::b1, {boolean}); }
  Value lane_id() { return op(Op::lane_id, Type::u32, {}); }
  Value read_lane(Value v, Value lane) { return op(Op::read_lane, type(v), {v, lane}); }
  Value read_first_lane(Value v);  // the first lane of exec, lane 0 when exec is 0
  Value shuffle(Value v, Value lane) { return op(Op::shuffle, type(v), {v, lane}); }

  // Memory. Lanes of `lanes` (b1) take part. Results are u32 (one per component), u64 for 8-byte atomics.
  std::array<Value, 4> load(const Access& access, Value lanes, Value address) {
    return load(access, lanes, std::span(&address, 1));
  }
  void store(const Access& access, Value lanes, Value address, std::span<const Value> data) {
    store(access, lanes, std::span(&address, 1), data);
  }
  // Addresses of several words.
  std::array<Value, 4> load(const Access& access, Value lanes, std::span<const Value> address);
  void store(const Access& access, Value lanes, std::span<const Value> address, std::span<const Value> data);
  Value atomic(const Access& access, Value lanes, Value address, Value data, Value compare = {});
  void effect(Op op, uint32_t imm = 0) { this->op(op, Type::none, {}, imm); }
  // The binding of a bound buffer, one per distinct source.
  uint32_t binding(const DescriptorSource& source) { return number_of(function_.bindings, source); }
  // Numbers of traced descriptors of images.
  uint32_t image(const ImageSource& source) { return number_of(function_.images, source); }
  uint32_t sampler(const DescriptorSource& source) { return number_of(function_.samplers, source); }
  // An access of this instruction (its offset) is not bound, and why.
  void note_computed(uint32_t instruction, TraceEnd why) { function_.computed.push_back({instruction, why}); }

  // Used by construct(): blocks in the graph's order; the terminator's condition is read at its end.
  void start_block(uint32_t block);
  void end_block();
  void set_route(uint32_t route, uint32_t value);
  // Writes in loops that were taken not to write the variable: the function is wrong, and has to be made again with
  // this known.
  std::span<const LoopWrite> unforeseen_writes() const;
  void finish();

  static constexpr uint32_t kVcc = 106, kM0 = 124, kNull = 125, kExec = 126;

 private:
  struct State;
  bool keeps_missing_wave_off(Value boolean);
  // Folds, finds an equal operation of the block, or adds one (`existing`, when it is made already).
  Value number(Op op, Type type, std::span<Value> args, uint32_t imm, Value existing);
  template <class Source>
  static uint32_t number_of(std::vector<Source>& known, const Source& source) {
    for (uint32_t i = 0; i < known.size(); ++i)
      if (known[i] == source) return i;
    known.push_back(source);
    return static_cast<uint32_t>(known.size() - 1);
  }
  Function& function_;
  const TranslateOptions& options_;
  FloatMode mode_;
  std::string refusal_;
  std::unique_ptr<State> state_;
};

}  // namespace orrery::shader::ir
