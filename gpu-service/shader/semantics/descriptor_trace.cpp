#include "gpu-service/shader/semantics/descriptor_trace.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace orrery::shader::semantics {

using ir::Op;
using ir::Value;

namespace {

constexpr size_t kMostBlocksUp = 16;  // from a join's predecessor to the branch above

// One trace: follows operands backwards and writes each value once, operands first.
class Slice {
 public:
  explicit Slice(const ir::Function& f) : f_(f) {}

  std::optional<uint16_t> value(Value v) {
    while (f_.at(v).op == Op::copy) v = f_.args(v)[0];
    if (const auto known = known_.find(v.id); known != known_.end()) return known->second;
    // Bounds the depth of the recursion too.
    if (++visited_ > kMostSliceSteps) return end(TraceEnd::too_long);
    const auto step = make(v);
    if (step) known_.emplace(v.id, *step);
    return step;
  }
  std::vector<SliceStep> take_steps() { return std::move(steps_); }
  TraceEnd why() const { return why_; }

 private:
  std::nullopt_t end(TraceEnd why) {
    why_ = why;
    return std::nullopt;
  }
  std::optional<uint16_t> add(const SliceStep& step) {
    const auto same = std::ranges::find(steps_, step);
    if (same == steps_.end()) {
      if (steps_.size() >= kMostSliceSteps) return end(TraceEnd::too_long);
      steps_.push_back(step);
      return static_cast<uint16_t>(steps_.size() - 1);
    }
    return static_cast<uint16_t>(same - steps_.begin());
  }
  std::optional<uint16_t> constant(ir::Type type, uint64_t bits) {
    return add({.op = Op::constant, .type = type, .imm = bits});
  }
  std::optional<uint16_t> binary(Op op, ir::Type type, uint16_t a, uint16_t b) {
    return add({.op = op, .type = type, .count = 2, .args = {a, b}});
  }

  std::optional<uint16_t> make(Value v) {
    const ir::Inst& inst = f_.at(v);
    switch (inst.op) {
      case Op::constant:
        return constant(inst.type, f_.constant_bits(inst));
      case Op::undefined:
        return end(TraceEnd::undefined);
      case Op::group_id:
        return end(TraceEnd::group);
      case Op::wave_id:
        return end(TraceEnd::wave);
      case Op::phi:
        return join(v);
      case Op::load:
        // One of a single dword is its own value.
        return f_.accesses[inst.imm].components == 1 ? component(v, 0) : end(TraceEnd::lanes);
      case Op::component:
        return component(f_.args(inst)[0], inst.imm);
      default:
        break;
    }
    if (inst.per_lane || ir::traits_of(inst.op) == ir::Traits::effect) return end(TraceEnd::lanes);
    if (!sliceable(inst.op, inst.type)) {
      return end(ir::traits_of(inst.op) == ir::Traits::cross ? TraceEnd::lanes : TraceEnd::operation);
    }
    auto operands = f_.args(inst);
    // The boolean form of a scalar mask belongs to the lanes; its words say the same.
    if (inst.op == Op::mask_nonzero) operands = operands.subspan(1);
    SliceStep step{.op = inst.op, .type = inst.type, .imm = inst.imm};
    for (const Value operand : operands) {
      if (step.count == step.args.size()) return end(TraceEnd::operation);
      const auto made = value(operand);
      if (!made) return std::nullopt;
      step.args[step.count++] = *made;
    }
    return add(step);
  }

  std::optional<uint16_t> component(Value load, uint32_t index) {
    const ir::Inst& inst = f_.at(load);
    if (inst.op != Op::load || inst.per_lane) return end(TraceEnd::lanes);
    const ir::Access access = f_.accesses[inst.imm];
    if (access.bytes != 4) return end(TraceEnd::operation);
    const auto loaded = known_.find(load.id);
    std::optional<uint16_t> whole;
    if (loaded != known_.end() && access.components > 1) {
      whole = loaded->second;
    } else {
      const auto condition = value(f_.args(inst)[0]);
      if (!condition) return std::nullopt;
      const auto address = place(access, f_.args(inst)[1]);
      if (!address) return std::nullopt;
      whole = add({.op = Op::load,
                   .type = ir::Type::u32,
                   .count = 2,
                   .args = {*condition, *address},
                   .imm = load_imm(access.offset, access.components)});
      if (!whole) return std::nullopt;
      if (access.components > 1) known_.emplace(load.id, *whole);
    }
    return add({.op = Op::component, .type = ir::Type::u32, .count = 1, .args = {*whole}, .imm = index});
  }

  // The guest address that a load's address stands for.
  std::optional<uint16_t> place(const ir::Access& access, Value address) {
    const auto offset = value(address);
    if (!offset || access.space == ir::Space::guest) return offset;
    if (access.space != ir::Space::buffer) return end(TraceEnd::lanes);
    // Behind the base of a bound buffer, whose own source is known.
    const DescriptorSource& source = f_.bindings[access.binding];
    std::vector<uint16_t> moved;
    for (SliceStep step : source.steps) {
      for (uint16_t i = 0; i < step.count; ++i) step.args[i] = moved[step.args[i]];
      const auto at = add(step);
      if (!at) return std::nullopt;
      moved.push_back(*at);
    }
    const auto low_bits = constant(ir::Type::u32, 0xffff);
    if (!low_bits) return std::nullopt;
    const auto high = binary(Op::iand, ir::Type::u32, moved[source.words[1]], *low_bits);
    if (!high) return std::nullopt;
    const auto base = binary(Op::pack64, ir::Type::u64, moved[source.words[0]], *high);
    const auto wide = add({.op = Op::zext, .type = ir::Type::u64, .count = 1, .args = {*offset}});
    if (!base || !wide) return std::nullopt;
    return binary(Op::iadd, ir::Type::u64, *base, *wide);
  }

  // A value that comes over two paths from one branch is chosen by the branch's condition.
  std::optional<uint16_t> join(Value phi) {
    const uint32_t block = f_.at(phi).block;
    const auto& predecessors = f_.blocks[block].predecessors;
    const auto arms = f_.args(phi);
    for (const uint32_t p : predecessors) {
      if (p >= block) return end(TraceEnd::loop);
    }
    if (predecessors.size() != 2 || arms.size() != 2) return end(TraceEnd::paths);
    const auto fork = branch_above(block, predecessors[0], predecessors[1]);
    if (!fork) return end(TraceEnd::paths);
    const auto condition = value(f_.blocks[fork->block].condition);
    if (!condition) return std::nullopt;
    const auto when_true = value(arms[fork->first_is_true ? 0 : 1]);
    if (!when_true) return std::nullopt;
    const auto when_false = value(arms[fork->first_is_true ? 1 : 0]);
    if (!when_false) return std::nullopt;
    return add({.op = Op::select, .type = f_.type(phi), .count = 3, .args = {*condition, *when_true, *when_false}});
  }

  struct Fork {
    uint32_t block;
    bool first_is_true;  // the first predecessor is reached over the branch's first target
  };
  // The blocks from `block` up, as long as one leads to the next alone.
  std::vector<uint32_t> way_up(uint32_t block) const {
    std::vector<uint32_t> way{block};
    while (way.size() < kMostBlocksUp && f_.blocks[way.back()].predecessors.size() == 1) {
      way.push_back(f_.blocks[way.back()].predecessors[0]);
    }
    return way;
  }
  std::optional<Fork> branch_above(uint32_t block, uint32_t first, uint32_t second) const {
    const auto a = way_up(first), b = way_up(second);
    for (size_t i = 0; i < a.size(); ++i) {
      const auto met = std::ranges::find(b, a[i]);
      if (met == b.end()) continue;
      const uint32_t fork = a[i];
      const auto& above = f_.graph->blocks[fork];
      if (above.terminator != cfg::TerminatorKind::branch || !f_.blocks[fork].condition) return std::nullopt;
      const uint32_t to_first = i == 0 ? block : a[i - 1];
      const uint32_t to_second = met == b.begin() ? block : *(met - 1);
      if (to_first == to_second) return std::nullopt;
      if (above.targets[0] == to_first && above.targets[1] == to_second) return Fork{fork, true};
      if (above.targets[1] == to_first && above.targets[0] == to_second) return Fork{fork, false};
      return std::nullopt;
    }
    return std::nullopt;
  }

  const ir::Function& f_;
  std::vector<SliceStep> steps_;
  std::unordered_map<uint32_t, uint16_t> known_;  // by value
  size_t visited_ = 0;
  TraceEnd why_ = TraceEnd::operation;
};

}  // namespace

std::expected<DescriptorSource, TraceEnd> trace_descriptor(const ir::Builder& b, const std::array<Value, 4>& words) {
  Slice slice(b.function());
  DescriptorSource source;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto step = slice.value(words[i]);
    if (!step) return std::unexpected(slice.why());
    source.words[i] = *step;
  }
  source.steps = slice.take_steps();
  return source;
}

std::expected<ImageSource, TraceEnd> trace_image(const ir::Builder& b, std::span<const Value, 8> words) {
  std::array<Value, 4> low, high;
  std::ranges::copy(words.first<4>(), low.begin());
  std::ranges::copy(words.last<4>(), high.begin());
  auto first = trace_descriptor(b, low);
  if (!first) return std::unexpected(first.error());
  auto behind = trace_descriptor(b, high);
  if (!behind) return std::unexpected(behind.error());
  return ImageSource{std::move(*first), std::move(*behind)};
}

bool from_private_descriptor(const ir::Function& f, Value word) {
  constexpr size_t kMostLooked = 64;
  std::vector<Value> open{word};
  for (size_t n = 0; n < open.size() && n < kMostLooked; ++n) {
    const ir::Inst& inst = f.at(open[n]);
    if (inst.op == Op::user_data && inst.imm == 0) return true;
    if (ir::traits_of(inst.op) == ir::Traits::effect || inst.op == Op::component) continue;  // loaded
    if (inst.op == Op::constant || inst.op == Op::undefined) continue;
    for (const Value v : f.args(inst))
      if (v && std::ranges::find(open, v) == open.end()) open.push_back(v);
  }
  return false;
}

}  // namespace orrery::shader::semantics
