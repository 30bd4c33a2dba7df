#include <bit>
#include <cassert>
#include <utility>

#include "gpu-service/shader/ir/builder_state.hpp"

namespace orrery::shader::ir {
namespace {

bool made_per_lane(const Function& f, Op op, std::span<const Value> args) {
  switch (op) {
    case Op::lane_id:
    case Op::local_id:
    case Op::thread_exists:
    case Op::stage_input:
    case Op::lane_bit:
    case Op::shuffle:
      return true;
    case Op::ballot:
    case Op::any:
    case Op::mask_nonzero:
    case Op::first_lane:
    case Op::read_lane:
      return false;
    case Op::atomic:
      return true;
    default:
      for (Value v : args)
        if (f.insts[v.id].per_lane) return true;
      return false;
  }
}

uint32_t mix(uint32_t h, uint32_t v) { return (h ^ v) * 0x9E3779B1u; }

}  // namespace

Builder::Builder(Function& function, const Program& program, const TranslateOptions& options, const LoopWrites& known)
    : function_(function),
      options_(options),
      mode_(FloatMode::of_rsrc1(options.rsrc1)),
      state_(std::make_unique<State>(*this, program, known)) {}
Builder::~Builder() = default;

std::span<const LoopWrite> Builder::unforeseen_writes() const { return state_->unforeseen; }

Builder::State::State(Builder& owner, const Program& program_in, const LoopWrites& known)
    : builder(owner), f(owner.function_), program(program_in) {
  const auto& graph = *f.graph;
  const auto count = static_cast<uint32_t>(graph.blocks.size());
  f.insts.reserve(program.instructions.size() * 4 + 64);
  f.operands.reserve(program.instructions.size() * 8 + 64);
  f.blocks.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t target : graph.blocks[i].targets) {
      auto& predecessors = f.blocks[target].predecessors;
      if (predecessors.empty() || predecessors.back() != i) predecessors.push_back(i);
    }
  }
  unfilled.resize(count);
  stamps.resize(count);
  for (uint32_t i = 0; i < count; ++i) unfilled[i] = static_cast<uint32_t>(f.blocks[i].predecessors.size());
  page_count = (kVarRoute + graph.routes + 31) / 32;
  pages.assign(static_cast<size_t>(count) * page_count, kNone);
  writers.resize(kVarRoute + graph.routes);
  find_joins();
  find_loop_writes(known);
  numbered.resize(std::bit_ceil(std::max<size_t>(1024, program.instructions.size() * 8)));
  constants.resize(256);
  for (auto& id : undefined_ids) id = kNone;
}

Value Builder::State::resolve(Value v) const {
  while (f.insts[v.id].op == Op::copy) v = f.operands[f.insts[v.id].first];
  return v;
}

Value Builder::State::undefined(Type type) {
  uint32_t& id = undefined_ids[static_cast<size_t>(type)];
  if (id == kNone) {
    id = static_cast<uint32_t>(f.insts.size());
    f.insts.push_back({.op = Op::undefined, .type = type});
  }
  return {id};
}

Value Builder::State::constant(Type type, uint64_t value) {
  if (type == Type::b1)
    value &= 1;
  else if (bits_of(type) < 64)
    value &= (1ull << bits_of(type)) - 1;
  const auto low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
  if (constant_count * 2 > constants.size()) {
    std::vector<Slot> old(constants.size() * 4);
    old.swap(constants);
    for (const Slot& s : old) {
      if (!s.epoch) continue;
      const Inst& inst = f.insts[s.id];
      uint32_t h = mix(mix(mix(0, static_cast<uint32_t>(inst.type)), inst.imm), inst.first);
      while (constants[(h >> 7) & (constants.size() - 1)].epoch) h += 128;
      constants[(h >> 7) & (constants.size() - 1)] = s;
    }
  }
  uint32_t h = mix(mix(mix(0, static_cast<uint32_t>(type)), low), high);
  for (;; h += 128) {
    Slot& s = constants[(h >> 7) & (constants.size() - 1)];
    if (!s.epoch) {
      s = {static_cast<uint32_t>(f.insts.size()), 1};
      ++constant_count;
      f.insts.push_back({.op = Op::constant, .type = type, .first = high, .imm = low});
      return {s.id};
    }
    const Inst& inst = f.insts[s.id];
    if (inst.type == type && inst.imm == low && inst.first == high) return {s.id};
  }
}

bool Builder::State::bits(Value v, uint64_t& out) const {
  const Inst& inst = f.insts[v.id];
  if (inst.op != Op::constant) return false;
  out = f.constant_bits(inst);
  return true;
}

Value Builder::State::make(Op op, Type type, std::span<const Value> args, uint32_t imm, uint32_t in_block) {
  const auto first = static_cast<uint32_t>(f.operands.size());
  // One address is another place for each lane in private memory.
  const bool per_lane = made_per_lane(f, op, args) || (op == Op::load && f.accesses[imm].space == Space::scratch);
  f.operands.insert(f.operands.end(), args.begin(), args.end());
  const auto id = static_cast<uint32_t>(f.insts.size());
  f.insts.push_back({.op = op,
                     .type = type,
                     .per_lane = per_lane,
                     .count = static_cast<uint32_t>(args.size()),
                     .first = first,
                     .imm = imm,
                     .block = in_block});
  return {id};
}

Value Builder::State::append(uint32_t in_block, Op op, Type type, std::span<const Value> args, uint32_t imm) {
  if (in_block == block) return builder.op(op, type, args, imm);
  const uint32_t saved = std::exchange(block, in_block);
  elsewhere = true;
  const Value v = builder.op(op, type, args, imm);
  elsewhere = false;
  block = saved;
  return v;
}

Value Builder::op(Op op, Type type, std::initializer_list<Value> args, uint32_t imm) {
  return this->op(op, type, std::span<const Value>(args.begin(), args.size()), imm);
}

namespace {
constexpr size_t kMostOperands = 32;  // of an access: lanes, address, data
}

Value Builder::op(Op op, Type type, std::span<const Value> args_in, uint32_t imm) {
  State& s = *state_;
  const size_t count = args_in.size();
  if (traits_of(op) == Traits::effect) {
    std::array<Value, kMostOperands> args;
    assert(count <= args.size());
    for (size_t i = 0; i < count; ++i) args[i] = s.resolve(args_in[i]);
    const Value v = s.make(op, type, std::span(args).first(count), imm, s.block);
    function_.blocks[s.block].body.push_back(v.id);
    return v;
  }
  Value args[16];
  assert(count <= 16);
  for (size_t i = 0; i < count; ++i) args[i] = s.resolve(args_in[i]);
  return number(op, type, {args, count}, imm, {});
}

Value Builder::number(Op op, Type type, std::span<Value> args, uint32_t imm, Value existing) {
  State& s = *state_;
  const size_t count = args.size();
  auto place = [&] {
    const Value v = existing ? existing : s.make(op, type, args, imm, s.block);
    function_.blocks[s.block].body.push_back(v.id);
    return v;
  };
  // Constants go right; otherwise the older value goes left.
  if (traits_of(op) == Traits::commutes && count == 2) {
    const bool left = function_.at(args[0]).op == Op::constant, right = function_.at(args[1]).op == Op::constant;
    if (left != right ? left : args[0].id > args[1].id) std::swap(args[0], args[1]);
  }
  if (Value v = simplify(*this, function_, op, type, args, imm); v) return s.resolve(v);
  if (s.elsewhere) return place();
  uint32_t h = mix(mix(static_cast<uint32_t>(op) * 8 + static_cast<uint32_t>(type), imm), static_cast<uint32_t>(count));
  for (size_t i = 0; i < count; ++i) h = mix(h, args[i].id);
  const size_t mask = s.numbered.size() - 1;
  size_t index = (h >> 7) & mask;
  for (size_t probes = 0;; index = (index + 1) & mask, ++probes) {
    State::Slot& slot = s.numbered[index];
    if (slot.epoch != s.epoch || probes > 64) {
      const Value v = place();
      slot = {v.id, s.epoch};
      return v;
    }
    const Inst& inst = function_.insts[slot.id];
    if (inst.op != op || inst.type != type || inst.imm != imm || inst.count != count) continue;
    bool same = true;
    for (size_t i = 0; i < count && same; ++i) same = function_.operands[inst.first + i] == args[i];
    if (same) return {slot.id};
  }
}

Value Builder::op(Op op, Value a) { return this->op(op, type(a), {a}); }
Value Builder::op(Op op, Value a, Value b) { return this->op(op, type(b), {a, b}); }
Value Builder::op(Op op, Value a, Value b, Value c) { return this->op(op, type(c), {a, b, c}); }

Value Builder::constant(Type type, uint64_t bits) { return state_->constant(type, bits); }
Value Builder::f32(float v) { return constant(Type::f32, std::bit_cast<uint32_t>(v)); }
Value Builder::f64(double v) { return constant(Type::f64, std::bit_cast<uint64_t>(v)); }
bool Builder::is_constant(Value v, uint64_t& bits) const { return state_->bits(state_->resolve(v), bits); }
bool Builder::is_true(Value v) const {
  uint64_t bits = 0;
  return type(v) == Type::b1 && is_constant(v, bits) && bits == 1;
}
bool Builder::is_false(Value v) const {
  uint64_t bits = 0;
  return type(v) == Type::b1 && is_constant(v, bits) && bits == 0;
}

Value Builder::as(Type type, Value v) {
  if (this->type(v) == type) return v;
  assert(bits_of(type) == bits_of(this->type(v)));
  return op(Op::bitcast, type, {v});
}
Value Builder::zext(Type type, Value v) { return this->type(v) == type ? v : op(Op::zext, type, {v}); }
Value Builder::sext(Type type, Value v) { return this->type(v) == type ? v : op(Op::sext, type, {v}); }
Value Builder::truncate(Type type, Value v) { return this->type(v) == type ? v : op(Op::truncate, type, {v}); }
Value Builder::flush(Value v) {
  uint64_t bits = 0;
  if (!can_be_denormal(function_, v)) return v;
  if (is_constant(v, bits)) return constant(type(v), bits & 1ull << (bits_of(type(v)) - 1));
  return op(Op::fflush, v);
}
Value Builder::low32(Value v) { return op(Op::low32, Type::u32, {as(Type::u64, v)}); }
Value Builder::high32(Value v) { return op(Op::high32, Type::u32, {as(Type::u64, v)}); }

std::array<Value, 4> Builder::load(const Access& access, Value lanes, std::span<const Value> address) {
  const auto index = static_cast<uint32_t>(function_.accesses.size());
  function_.accesses.push_back(access);
  std::array<Value, kMostOperands> args{lanes};
  std::ranges::copy(address, args.begin() + 1);
  const Value whole = op(Op::load, access.bytes == 8 ? Type::u64 : Type::u32,
                         std::span<const Value>(args).first(1 + address.size()), index);
  std::array<Value, 4> parts;
  parts[0] = whole;
  if (access.components > 1) {
    for (uint32_t i = 0; i < access.components; ++i) parts[i] = op(Op::component, Type::u32, {whole}, i);
  }
  return parts;
}

void Builder::store(const Access& access, Value lanes, std::span<const Value> address, std::span<const Value> data) {
  const auto index = static_cast<uint32_t>(function_.accesses.size());
  function_.accesses.push_back(access);
  std::array<Value, kMostOperands> args{lanes};
  size_t count = 1;
  for (Value v : address) args[count++] = v;
  for (Value v : data) args[count++] = bits_of(type(v)) == 32 ? as(Type::u32, v) : v;
  op(Op::store, Type::none, std::span<const Value>(args).first(count), index);
}

Value Builder::atomic(const Access& access, Value lanes, Value address, Value data, Value compare) {
  const auto index = static_cast<uint32_t>(function_.accesses.size());
  function_.accesses.push_back(access);
  Value args[4] = {lanes, address, data, compare};
  return op(Op::atomic, type(data), std::span<const Value>(args, compare ? 4u : 3u), index);
}

}  // namespace orrery::shader::ir
