// The guest's registers as SSA variables, and their values at the program's entry.
#include <cassert>

#include "gpu-service/shader/ir/builder_state.hpp"

namespace orrery::shader::ir {
namespace {

bool is_vgpr(uint32_t variable) { return variable < kVarNumber; }
bool is_number(uint32_t variable) { return variable >= kVarNumber && variable < kVarMask; }
bool is_mask(uint32_t variable) { return variable >= kVarMask && variable < kVarScc; }
Type type_of(uint32_t variable) { return is_mask(variable) || variable == kVarScc ? Type::b1 : Type::u32; }

}  // namespace

uint32_t& Builder::State::definition(uint32_t variable, uint32_t in_block) {
  uint32_t& page = pages[static_cast<size_t>(in_block) * page_count + variable / 32];
  if (page == kNone) {
    page = static_cast<uint32_t>(pool.size());
    pool.resize(pool.size() + 32, kNone);
  }
  return pool[page + variable % 32];
}

uint32_t Builder::State::make_phi(uint32_t variable, uint32_t in_block) {
  const auto id = static_cast<uint32_t>(f.insts.size());
  const auto count = f.blocks[in_block].predecessors.size();
  const auto first = static_cast<uint32_t>(f.operands.size());
  f.operands.resize(f.operands.size() + count);
  f.insts.push_back({.op = Op::phi,
                     .type = type_of(variable),
                     .per_lane = is_vgpr(variable) || is_mask(variable),
                     .count = static_cast<uint32_t>(count),
                     .first = first,
                     .block = in_block});
  f.blocks[in_block].phis.push_back(id);
  return id;
}

Value Builder::State::close_phi(uint32_t phi) {
  const Inst inst = f.insts[phi];
  Value same;
  for (uint32_t i = 0; i < inst.count; ++i) {
    const Value v = resolve(f.operands[inst.first + i]);
    f.operands[inst.first + i] = v;
    if (v.id == phi || v == same) continue;
    if (same) return {phi};
    same = v;
  }
  if (!same) same = undefined(inst.type);
  f.insts[phi].op = Op::copy;
  f.insts[phi].count = 1;
  f.operands[inst.first] = same;
  return same;
}

// Phi operands must have the variable's type.
Value Builder::State::as_variable(uint32_t variable, Value v, uint32_t in_block) {
  const Type type = type_of(variable);
  if (f.type(v) == type) return v;
  const Value args[] = {v};
  return append(in_block, Op::bitcast, type, args, 0);
}

Value Builder::State::derive(uint32_t variable, uint32_t in_block) {
  Value v;
  if (is_mask(variable)) {
    const uint32_t reg = variable - kVarMask;
    Value words[2] = {read(kVarNumber + reg, in_block), {}};
    size_t count = 1;
    if (builder.wave64()) {
      words[1] = read(kVarNumber + reg + 1, in_block);
      count = 2;
    }
    v = append(in_block, Op::lane_bit, Type::b1, {words, count}, 0);
  } else {
    assert(is_number(variable));
    const uint32_t reg = variable - kVarNumber;
    const uint32_t word = builder.wave64() ? reg & 1 : 0;
    const Value args[] = {read(kVarMask + (builder.wave64() ? reg & ~1u : reg), in_block)};
    v = append(in_block, Op::ballot, Type::u32, args, word);
  }
  definition(variable, in_block) = v.id;
  return v;
}

Value Builder::State::read(uint32_t variable, uint32_t in_block) {
  // The usual case first.
  if (const uint32_t id = definition(variable, in_block); id < kDerived) return resolve({id});
  const size_t base = stack.size();
  stack.push_back({in_block, kNone, 0});
  Value result;
  bool delivered = false;
  while (stack.size() > base) {
    Frame frame = stack.back();
    Block& b = f.blocks[frame.block];
    if (!delivered) {
      const uint32_t id = definition(variable, frame.block);
      if (id < kDerived) {
        result = resolve({id});
      } else if (id == kDerived) {
        result = derive(variable, frame.block);
      } else if (unfilled[frame.block] && (b.predecessors.size() > 1 || b.predecessors[0] >= frame.block)) {
        if (const uint32_t past = passed_open(variable, frame.block); past != kNone) {
          stack.push_back({past, kNone, 0});
          continue;
        }
        const uint32_t phi = make_phi(variable, frame.block);
        incomplete[frame.block].push_back({variable, phi});
        definition(variable, frame.block) = phi;
        result = {phi};
      } else if (b.predecessors.empty()) {
        result = frame.block == 0 ? initial(variable) : undefined(type_of(variable));
        definition(variable, frame.block) = result.id;
      } else {
        uint32_t from = b.predecessors[0];
        if (b.predecessors.size() > 1) {
          if (const uint32_t past = passed(variable, frame.block); past != kNone) {
            from = past;
          } else {
            const uint32_t phi = make_phi(variable, frame.block);
            definition(variable, frame.block) = phi;
            stack.back().phi = phi;
          }
        }
        stack.push_back({from, kNone, 0});
        continue;
      }
      stack.pop_back();
      delivered = true;
      continue;
    }
    // A predecessor's value has arrived.
    if (frame.phi == kNone) {
      definition(variable, frame.block) = result.id;
      stack.pop_back();
      continue;
    }
    const Value operand = as_variable(variable, result, b.predecessors[frame.next]);
    f.operands[f.insts[frame.phi].first + frame.next] = operand;
    if (++stack.back().next < b.predecessors.size()) {
      stack.push_back({b.predecessors[stack.back().next], kNone, 0});
      delivered = false;
      continue;
    }
    result = close_phi(frame.phi);
    definition(variable, frame.block) = result.id;
    stack.pop_back();
  }
  return resolve(result);
}

// The state a compute wave starts in (COMPUTE_PGM_RSRC2): user data, group ids, group size word, thread ids in v0..v2.
Value Builder::State::initial(uint32_t variable) {
  const TranslateOptions& o = builder.options();
  if (o.stage.kind != StageKind::compute) return stage_initial(variable);
  auto entry = [&](Op op, Type type, uint32_t imm) {
    const Value v = make(op, type, {}, imm, 0);
    prologue.push_back(v.id);
    return v;
  };
  const GroupShape group = group_shape(o);
  const uint32_t waves = group.waves(o.layout.wave);
  if (is_vgpr(variable)) {
    const uint32_t last = (o.rsrc2 >> 11) & 3;
    if (variable <= last && variable < 3) {
      if (o.group_size[variable] == 1) return constant(Type::u32, 0);
      return entry(Op::local_id, Type::u32, variable);
    }
    return undefined(Type::u32);
  }
  if (is_number(variable)) {
    const uint32_t reg = variable - kVarNumber;
    if (reg == kExec || (reg == kExec + 1 && builder.wave64())) {
      const Value args[] = {initial(kVarMask + kExec)};
      const uint32_t word = reg - kExec;
      // The only wave of its group: which of its threads exist is known.
      if (waves == 1 && !group.partial) {
        const uint32_t threads = group.threads();
        const uint64_t mask = threads >= 64 ? ~0ull : (1ull << threads) - 1;
        return constant(Type::u32, mask >> word * 32);
      }
      if (Value v = simplify(builder, f, Op::ballot, Type::u32, args, word); v) return v;
      const Value v = make(Op::ballot, Type::u32, args, word, 0);
      prologue.push_back(v.id);
      return v;
    }
    const uint32_t user = (o.rsrc2 >> 1) & 31;
    if (reg < user) return reg < 16 ? entry(Op::user_data, Type::u32, reg) : undefined(Type::u32);
    uint32_t next = user;
    for (uint32_t dimension = 0; dimension < 3; ++dimension) {
      if ((o.rsrc2 >> (7 + dimension)) & 1 && reg == next++) return entry(Op::group_id, Type::u32, dimension);
    }
    if ((o.rsrc2 >> 10) & 1 && reg == next++) {
      // TG_SIZE: waves in the group (5:0), this wave's number (11:6); ordered append fields are 0.
      const Value args[] = {entry(Op::wave_id, Type::u32, 0), constant(Type::u32, 6)};
      const Value shifted = make(Op::shl, Type::u32, args, 0, 0);
      prologue.push_back(shifted.id);
      const Value parts[] = {shifted, constant(Type::u32, waves)};
      const Value word = make(Op::ior, Type::u32, parts, 0, 0);
      prologue.push_back(word.id);
      return word;
    }
    if (o.rsrc2 & 1 && reg == next++)
      return constant(Type::u32, 0);  // scratch offset: the module addresses scratch itself
    return undefined(Type::u32);
  }
  if (is_mask(variable)) {
    const uint32_t reg = variable - kVarMask;
    if (reg != kExec) return derive(variable, 0);
    if (waves_start_full(o.layout.wave, group_shape(o))) return constant(Type::b1, 1);
    return entry(Op::thread_exists, Type::b1, 0);
  }
  if (variable >= kVarRoute) return constant(Type::u32, 0);
  return undefined(type_of(variable));
}

Value Builder::wave_exists() {
  State& s = *state_;
  const GroupShape group = group_shape(options_);
  if (!group.partial || group.waves(options_.layout.wave) == 1) return b1(true);
  if (!s.wave_exists) {
    const Value args[] = {s.initial(kVarMask + kExec)};
    s.wave_exists = s.make(Op::any, Type::b1, args, 0, 0);
    s.prologue.push_back(s.wave_exists.id);
  }
  return s.wave_exists;
}

void Builder::start_block(uint32_t block) {
  State& s = *state_;
  s.block = block;
  ++s.epoch;
}

void Builder::set_route(uint32_t route, uint32_t value) { state_->write(kVarRoute + route, u32(value)); }

void Builder::end_block() {
  State& s = *state_;
  const cfg::StructuredBlock& from = function_.graph->blocks[s.block];
  Block& block = function_.blocks[s.block];
  if (from.terminator == cfg::TerminatorKind::route) {
    block.condition = s.read(kVarRoute + from.route, s.block);
  } else if (from.terminator == cfg::TerminatorKind::branch) {
    Value v;
    bool negate = false;
    switch (from.condition) {
      case cfg::Condition::scc0:
        negate = true;
        [[fallthrough]];
      case cfg::Condition::scc1:
        v = scc();
        break;
      case cfg::Condition::execz:
        negate = true;
        [[fallthrough]];
      case cfg::Condition::execnz:
        v = any(exec());
        break;
      case cfg::Condition::vccz:
        negate = true;
        [[fallthrough]];
      case cfg::Condition::vccnz:
        v = mask_nonzero(mask(kVcc), sgpr(kVcc, wave64() ? Type::u64 : Type::u32));
        break;
    }
    function_.blocks[s.block].condition = negate ? lnot(v) : v;
  }
  // Blocks whose predecessors are now all complete get their waiting phis filled.
  for (uint32_t target : from.targets) {
    if (s.stamps[target] == s.block + 1) continue;  // predecessors hold each block once
    s.stamps[target] = s.block + 1;
    if (--s.unfilled[target]) continue;
    auto it = s.incomplete.find(target);
    if (it == s.incomplete.end()) continue;
    const std::vector<State::Pending> pending = std::move(it->second);
    s.incomplete.erase(it);
    for (const auto& [variable, phi] : pending) {
      for (uint32_t i = 0; i < function_.insts[phi].count; ++i) {
        const uint32_t p = function_.blocks[target].predecessors[i];
        const Value v = s.as_variable(variable, s.read(variable, p), p);
        function_.operands[function_.insts[phi].first + i] = v;
      }
      s.close_phi(phi);
    }
  }
}

void Builder::finish() {
  State& s = *state_;
  assert(s.incomplete.empty());
  auto& entry = function_.blocks[0].body;
  entry.insert(entry.begin(), s.prologue.begin(), s.prologue.end());
  bool joins = false;
  for (Block& b : function_.blocks) joins |= b.predecessors.size() > 1;
  if (joins) s.rewrite();
  for (Value& v : function_.operands)
    if (v) v = s.resolve(v);
  for (Block& b : function_.blocks) {
    if (b.condition) b.condition = s.resolve(b.condition);
    std::erase_if(b.phis, [&](uint32_t phi) { return function_.insts[phi].op != Op::phi; });
  }
}

// Phis that turned out to be one value, and what folds because of it.
void Builder::State::rewrite() {
  for (int round = 0; round < 4; ++round) {
    bool changed = false;
    for (Block& b : f.blocks) {
      for (const uint32_t phi : b.phis) {
        if (f.insts[phi].op == Op::phi) changed |= close_phi(phi).id != phi;
      }
    }
    if (!changed) break;
  }
  // Only what sees something new is made again: an operand that turned out to be another value, was made again itself,
  // or is a loop's phi, which was open when its users were made.
  std::vector<uint8_t> fresh(f.insts.size());
  for (const Block& b : f.blocks) {
    if (b.predecessors.empty() || b.predecessors.back() < static_cast<uint32_t>(&b - f.blocks.data())) continue;
    for (const uint32_t phi : b.phis) fresh[phi] = 1;
  }
  std::vector<uint32_t> old;
  Value args[16];
  for (uint32_t n = 0; n < f.blocks.size(); ++n) {
    builder.start_block(n);
    old.clear();
    old.swap(f.blocks[n].body);
    f.blocks[n].body.reserve(old.size());
    for (const uint32_t id : old) {
      const Inst inst = f.insts[id];
      bool again = false;
      for (uint32_t i = 0; i < inst.count; ++i) {
        Value& v = f.operands[inst.first + i];
        const Value now = resolve(v);
        again |= now != v || now.id >= fresh.size() || fresh[now.id];
        v = now;
      }
      if (!again || traits_of(inst.op) == Traits::effect || inst.count > 3) {
        f.blocks[n].body.push_back(id);
        continue;
      }
      for (uint32_t i = 0; i < inst.count; ++i) args[i] = f.operands[inst.first + i];
      const Value v = builder.number(inst.op, inst.type, {args, inst.count}, inst.imm, {id});
      if (v.id == id) {
        fresh[id] = 1;
        continue;
      }
      f.insts[id].op = Op::copy;
      f.insts[id].count = 1;
      if (inst.count == 0) {
        f.insts[id].first = static_cast<uint32_t>(f.operands.size());
        f.operands.push_back(v);
      } else {
        f.operands[inst.first] = v;
      }
    }
    if (f.blocks[n].condition) f.blocks[n].condition = resolve(f.blocks[n].condition);
  }
}

Value Builder::vgpr(uint32_t index, Type type) {
  State& s = *state_;
  if (bits_of(type) == 64) {
    const Value low = vgpr(index), high = vgpr((index + 1) & 255);
    return as(type, pack64(low, high));
  }
  const Value v = s.read(kVarVgpr + index, s.block);
  if (bits_of(type) == 16) return as(type, truncate(Type::u16, as(Type::u32, v)));
  return as(type, v);
}

Value Builder::sgpr(uint32_t index, Type type) {
  State& s = *state_;
  if (bits_of(type) == 64) {
    const Value low = sgpr(index), high = index == kNull ? low : sgpr(index + 1);
    return as(type, pack64(low, high));
  }
  if (bits_of(type) == 16) return as(type, truncate(Type::u16, sgpr(index)));
  if (index == kNull) return constant(type, 0);
  return as(type, s.read(kVarNumber + (index & 127), s.block));
}

Value Builder::mask(uint32_t index) {
  State& s = *state_;
  if (index == kNull) return b1(false);
  if (wave64() && index & 1) {  // not a mask register: from the words
    return op(Op::lane_bit, Type::b1, {sgpr(index), sgpr(index + 1)});
  }
  return s.read(kVarMask + (index & 127), s.block);
}

Value Builder::scc() { return state_->read(kVarScc, state_->block); }

void Builder::set_vgpr(uint32_t index, Value v) {
  const Type t = type(v);
  if (bits_of(t) == 64) {
    set_vgpr(index, low32(v));
    set_vgpr((index + 1) & 255, high32(v));
    return;
  }
  if (bits_of(t) == 16) v = zext(Type::u32, as(Type::u16, v));
  const Value lanes = exec();
  if (!is_true(lanes)) v = select(lanes, v, vgpr(index, type(v)));
  state_->write(kVarVgpr + index, v);
}

void Builder::set_vgpr_all_lanes(uint32_t index, Value v) { state_->write(kVarVgpr + index, v); }

void Builder::set_sgpr(uint32_t index, Value v) {
  State& s = *state_;
  const Type t = type(v);
  assert(!per_lane(v));
  if (bits_of(t) == 64) {
    set_sgpr(index, low32(v));
    set_sgpr(index + 1, high32(v));
    return;
  }
  if (bits_of(t) == 16) v = zext(Type::u32, as(Type::u16, v));
  if (t == Type::b1) v = select(v, u32(1), u32(0));
  if (index == kNull || index > 127) return;
  if (index == kExec || (wave64() && index == kExec + 1)) {
    if (const Value exists = wave_exists(); !is_true(exists)) v = select(exists, as(Type::u32, v), u32(0));
  }
  uint32_t mask_index = index;
  if (wave64()) {
    mask_index = index & ~1u;
    // The other half must not be derived from the boolean that goes away.
    const uint32_t other = kVarNumber + (index ^ 1);
    if (s.definition(other, s.block) == State::kDerived) s.derive(other, s.block);
  }
  s.write(kVarNumber + index, as(Type::u32, v));
  s.write(kVarMask + mask_index, State::kDerived);
}

bool Builder::keeps_missing_wave_off(Value boolean) {
  return is_true(wave_exists()) || implies(function_, boolean, exec());
}

void Builder::set_mask(uint32_t index, Value boolean) {
  State& s = *state_;
  if (index == kNull) return;
  if (index == kExec && !keeps_missing_wave_off(boolean)) boolean = land(wave_exists(), boolean);
  if (wave64() && index & 1) {
    const Value number = ballot(boolean);
    set_sgpr(index, low32(number));
    set_sgpr(index + 1, high32(number));
    return;
  }
  s.write(kVarMask + index, boolean);
  s.write(kVarNumber + index, State::kDerived);
  if (wave64()) s.write(kVarNumber + index + 1, State::kDerived);
}

void Builder::set_mask(uint32_t index, Value boolean, Value number) {
  State& s = *state_;
  if (index == kNull) return;
  if (wave64() && index & 1) return set_sgpr(index, number);
  if (index == kExec && !keeps_missing_wave_off(boolean)) {
    boolean = land(wave_exists(), boolean);
    number = select(wave_exists(), number, constant(type(number), 0));
  }
  s.write(kVarMask + index, boolean);
  if (wave64()) {
    s.write(kVarNumber + index, low32(number));
    s.write(kVarNumber + index + 1, high32(number));
  } else {
    s.write(kVarNumber + index, as(Type::u32, number));
  }
}

void Builder::set_scc(Value v) { state_->write(kVarScc, v); }

Value Builder::mask_nonzero(Value boolean, Value number) {
  if (wave64()) return op(Op::mask_nonzero, Type::b1, {boolean, low32(number), high32(number)});
  return op(Op::mask_nonzero, Type::b1, {boolean, number});
}

bool Builder::mask_capable(uint32_t index, uint32_t dwords) const {
  return wave64() ? dwords == 2 && (index & 1) == 0 : dwords == 1;
}

Value Builder::ballot(Value boolean) {
  const Value low = op(Op::ballot, Type::u32, {boolean}, 0);
  return wave64() ? pack64(low, op(Op::ballot, Type::u32, {boolean}, 1)) : low;
}

Value Builder::read_first_lane(Value v) {
  if (!per_lane(v)) return v;
  return read_lane(v, op(Op::first_lane, Type::u32, {exec()}));
}

}  // namespace orrery::shader::ir
