// 64-bit additions that the guest does by halves, with a carry between (v_add_co_u32, v_add_co_ci_u32): made whole
// where the two words come together again, which for most is an address. Hosts add with carry in two steps; a compare
// and a select for the carry cost as much again.
#include <array>
#include <optional>
#include <unordered_map>

#include "gpu-service/shader/passes/passes.hpp"

namespace orrery::shader::passes {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

constexpr int kDeepest = 8;  // additions on top of each other

class Joiner {
 public:
  explicit Joiner(ir::Function& f) : f_(f) {}

  void run() {
    for (uint32_t n = 0; n < f_.blocks.size(); ++n) {
      ir::Block& block = f_.blocks[n];
      known_.clear();
      const std::vector<uint32_t> body = std::move(block.body);
      out_.clear();
      block_ = n;
      for (const uint32_t id : body) {
        const Inst inst = f_.insts[id];
        if (inst.op == Op::pack64 && inst.type == Type::u64) {
          join(id, kDeepest);
          known_.try_emplace(key(f_.args(inst)[0], f_.args(inst)[1]), id);
        }
        out_.push_back(id);
      }
      block.body = std::move(out_);
    }
  }

 private:
  static uint64_t key(Value low, Value high) { return uint64_t{high.id} << 32 | low.id; }
  bool is_constant(Value v, uint64_t bits) const {
    return f_.at(v).op == Op::constant && f_.constant_bits(f_.at(v)) == bits;
  }

  struct Sum {
    Value low[2], high[2];
  };
  // low = a + b, high = p + q + (low < a or b ? 1 : 0), in any order; q may be missing.
  std::optional<Sum> sum_of(Value low, Value high) const {
    const Inst& l = f_.at(low);
    if (l.op != Op::iadd || l.type != Type::u32) return std::nullopt;
    Sum sum{{f_.args(l)[0], f_.args(l)[1]}, {}};
    std::array<Value, 4> terms{};
    const size_t count = terms_of(high, terms);
    size_t plain = 0;
    bool carry = false;
    for (size_t i = 0; i < count; ++i) {
      if (!carry && is_carry(terms[i], low, sum)) {
        carry = true;
      } else if (plain < 2) {
        sum.high[plain++] = terms[i];
      } else {
        return std::nullopt;
      }
    }
    if (!carry || plain == 0) return std::nullopt;
    return sum;
  }
  size_t terms_of(Value v, std::array<Value, 4>& out) const {
    const Inst& top = f_.at(v);
    if (top.op != Op::iadd || top.type != Type::u32) return 0;
    size_t count = 0;
    for (const Value part : f_.args(top)) {
      const Inst& inner = f_.at(part);
      if (inner.op == Op::iadd && count < 2) {
        for (const Value leaf : f_.args(inner)) out[count++] = leaf;
      } else {
        out[count++] = part;
      }
    }
    return count;
  }
  bool is_carry(Value v, Value low, const Sum& sum) const {
    const Inst& select = f_.at(v);
    if (select.op != Op::select || !is_constant(f_.args(select)[1], 1) || !is_constant(f_.args(select)[2], 0)) {
      return false;
    }
    const Inst& less = f_.at(f_.args(select)[0]);
    return less.op == Op::ult && f_.args(less)[0] == low &&
           (f_.args(less)[1] == sum.low[0] || f_.args(less)[1] == sum.low[1]);
  }

  bool join(uint32_t id, int depth) {
    const auto words = f_.args(f_.insts[id]);
    const auto sum = depth == 0 ? std::nullopt : sum_of(words[0], words[1]);
    if (!sum) return false;
    // Which high word goes with which low one makes no difference to the sum; whole values are better.
    const Value zero = constant(0);
    const Value p = sum->high[0], q = sum->high[1] ? sum->high[1] : zero;
    const bool crossed = halves_of_one(sum->low[0], q) || halves_of_one(sum->low[1], p);
    const Value a = whole(sum->low[0], crossed ? q : p, depth - 1), b = whole(sum->low[1], crossed ? p : q, depth - 1);
    Inst& inst = f_.insts[id];
    inst.op = Op::iadd;
    inst.first = static_cast<uint32_t>(f_.operands.size());
    f_.operands.push_back(a);
    f_.operands.push_back(b);
    return true;
  }
  bool halves_of_one(Value low, Value high) const {
    const Inst &l = f_.at(low), &h = f_.at(high);
    if (known_.contains(key(low, high)) || (l.op == Op::constant && h.op == Op::constant)) return true;
    if (l.op == Op::low32 && h.op == Op::high32) return f_.args(l)[0] == f_.args(h)[0];
    return l.op == Op::component && h.op == Op::component && f_.args(l)[0] == f_.args(h)[0] && h.imm == l.imm + 1;
  }

  Value whole(Value low, Value high, int depth) {
    const Inst l = f_.at(low), h = f_.at(high);
    if (l.op == Op::low32 && h.op == Op::high32 && f_.args(l)[0] == f_.args(h)[0]) {
      const Value from = f_.args(l)[0];
      if (f_.type(from) == Type::u64) return from;
    }
    if (const auto found = known_.find(key(low, high)); found != known_.end()) return {found->second};
    const auto first = static_cast<uint32_t>(f_.operands.size());
    f_.operands.push_back(low);
    f_.operands.push_back(high);
    const auto id = static_cast<uint32_t>(f_.insts.size());
    f_.insts.push_back({.op = Op::pack64,
                        .type = Type::u64,
                        .per_lane = l.per_lane || h.per_lane || f_.is_apart(block_),
                        .count = 2,
                        .first = first,
                        .block = block_});
    join(id, depth);
    known_.emplace(key(low, high), id);
    out_.push_back(id);
    return {id};
  }
  Value constant(uint32_t bits) {
    if (!zero_) {
      zero_ = {static_cast<uint32_t>(f_.insts.size())};
      f_.insts.push_back({.op = Op::constant, .type = Type::u32, .imm = bits});
    }
    return zero_;
  }

  ir::Function& f_;
  std::unordered_map<uint64_t, uint32_t> known_;  // pairs of words of this block that are a value already
  std::vector<uint32_t> out_;
  uint32_t block_ = 0;
  Value zero_;
};

}  // namespace

void join_words(ir::Function& f) { Joiner(f).run(); }

}  // namespace orrery::shader::passes
