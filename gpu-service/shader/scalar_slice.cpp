#include "gpu-service/shader/scalar_slice.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace orrery::shader {
namespace {

using ir::Op;
using ir::Type;

uint64_t mask_of(Type type) {
  const uint32_t bits = ir::bits_of(type);
  return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}
int64_t as_signed(uint64_t v, Type type) {
  const uint32_t unused = 64 - ir::bits_of(type);
  return static_cast<int64_t>(v << unused) >> unused;
}
uint32_t reversed(uint32_t v) {
  uint32_t out = 0;
  for (uint32_t bit = 0; bit < 32; ++bit) out |= (v >> bit & 1) << (31 - bit);
  return out;
}
// operations.inc: find_smsb.
uint32_t sign_msb(uint32_t v) {
  const uint32_t differs = static_cast<int32_t>(v) < 0 ? ~v : v;
  return differs == 0 ? ~0u : 31u - static_cast<uint32_t>(std::countl_zero(differs));
}
uint64_t field(uint64_t v, uint64_t offset, uint64_t count, bool sign) {
  if (count == 0 || offset > 31) return 0;
  const auto bits = static_cast<uint32_t>(v >> offset);
  if (count >= 32) return bits;
  const auto up = static_cast<uint32_t>(32 - count);
  return sign ? static_cast<uint32_t>(static_cast<int32_t>(bits << up) >> up) : bits << up >> up;
}

class Evaluation {
 public:
  Evaluation(std::span<const SliceStep> steps, const SliceInput& input)
      : steps_(steps), input_(input), known_(steps.size()), values_(steps.size()) {}

  // Recursive: no deeper than there are steps, since operands come earlier.
  bool compute(size_t index) {
    if (index >= steps_.size()) return malformed();
    if (known_[index]) return true;
    const SliceStep& step = steps_[index];
    for (uint16_t i = 0; i < step.count; ++i) {
      if (i >= step.args.size() || step.args[i] >= index) return malformed();
    }
    if (step.op == Op::load ? !load(index) : !operation(index)) return false;
    known_[index] = true;
    return true;
  }
  uint64_t value(size_t index) const { return values_[index][0]; }
  const SliceError& error() const { return error_; }

 private:
  bool malformed() {
    error_ = {SliceError::Kind::malformed, 0};
    return false;
  }
  bool argument(const SliceStep& step, uint16_t i, uint64_t& out) {
    if (i >= step.count) return malformed();
    if (!compute(step.args[i])) return false;
    out = value(step.args[i]);
    return true;
  }
  bool load(size_t index) {
    const SliceStep& step = steps_[index];
    uint64_t condition = 0, address = 0;
    if (!argument(step, 0, condition)) return false;
    if ((condition & 1) == 0) return true;
    if (!argument(step, 1, address)) return false;
    const auto dwords = static_cast<uint32_t>(step.imm >> 32);
    if (dwords == 0 || dwords > 4) return malformed();
    // Scalar loads ignore the low two address bits.
    address = (address + static_cast<uint64_t>(int64_t{static_cast<int32_t>(step.imm)})) & ~3ull;
    std::array<uint32_t, 4> words{};
    if (!input_.read(address, std::as_writable_bytes(std::span(words).first(dwords)))) {
      error_ = {SliceError::Kind::unmapped, address};
      return false;
    }
    for (size_t i = 0; i < 4; ++i) values_[index][i] = words[i];
    return true;
  }
  bool operation(size_t index) {
    const SliceStep& step = steps_[index];
    uint64_t& out = values_[index][0];
    switch (step.op) {
      case Op::constant:
        out = step.imm;
        return true;
      case Op::user_data:
        if (step.imm >= input_.user_data.size()) return malformed();
        out = input_.user_data[step.imm];
        return true;
      case Op::code_address:
        out = static_cast<uint32_t>(input_.code_address >> (step.imm != 0 ? 32 : 0));
        return true;
      case Op::component:
        if (step.count != 1 || step.imm > 3 || steps_[step.args[0]].op != Op::load) return malformed();
        if (!compute(step.args[0])) return false;
        out = values_[step.args[0]][step.imm];
        return true;
      case Op::select: {
        uint64_t condition = 0;
        return argument(step, 0, condition) && argument(step, (condition & 1) != 0 ? 1 : 2, out);
      }
      default:
        break;
    }
    std::array<uint64_t, 3> args{};
    for (uint16_t i = 0; i < step.count; ++i) {
      if (!argument(step, i, args[i])) return false;
    }
    const Type from = step.count > 0 ? steps_[step.args[step.count - 1]].type : step.type;
    const auto result = apply(step, from, args);
    if (!result) return malformed();
    out = *result & mask_of(step.type);
    return true;
  }
  // `from`: the operands' type.
  static std::optional<uint64_t> apply(const SliceStep& step, Type from, const std::array<uint64_t, 3>& a);

  std::span<const SliceStep> steps_;
  const SliceInput& input_;
  std::vector<bool> known_;
  std::vector<std::array<uint64_t, 4>> values_;
  SliceError error_;
};

std::optional<uint64_t> Evaluation::apply(const SliceStep& step, Type from, const std::array<uint64_t, 3>& a) {
  const uint32_t width = std::max(ir::bits_of(step.type), 1u);
  const auto s = [&](size_t i) { return as_signed(a[i], from); };
  switch (step.op) {
    case Op::iadd:
      return a[0] + a[1];
    case Op::isub:
      return a[0] - a[1];
    case Op::imul:
      return a[0] * a[1];
    case Op::umul_high:
      return a[0] * a[1] >> 32;
    case Op::smul_high:
      return static_cast<uint64_t>(s(0) * s(1)) >> 32;
    case Op::iand:
      return a[0] & a[1];
    case Op::ior:
      return a[0] | a[1];
    case Op::ixor:
      return a[0] ^ a[1];
    case Op::inot:
      return ~a[0];
    case Op::shl:
      return a[0] << (a[1] % width);
    case Op::lshr:
      return a[0] >> (a[1] % width);
    case Op::ashr:
      return static_cast<uint64_t>(as_signed(a[0], step.type) >> (a[1] % width));
    case Op::umin:
      return std::min(a[0], a[1]);
    case Op::umax:
      return std::max(a[0], a[1]);
    case Op::smin:
      return static_cast<uint64_t>(std::min(s(0), s(1)));
    case Op::smax:
      return static_cast<uint64_t>(std::max(s(0), s(1)));
    case Op::bit_count:
      return static_cast<uint64_t>(std::popcount(a[0]));
    case Op::bit_reverse:
      return reversed(static_cast<uint32_t>(a[0]));
    case Op::find_lsb:
      return a[0] == 0 ? ~0ull : static_cast<uint64_t>(std::countr_zero(a[0]));
    case Op::find_umsb:
      return a[0] == 0 ? ~0ull : 63u - static_cast<uint64_t>(std::countl_zero(a[0]));
    case Op::find_smsb:
      return sign_msb(static_cast<uint32_t>(a[0]));
    case Op::bitfield_u:
      return field(a[0], a[1], a[2], false);
    case Op::bitfield_s:
      return field(a[0], a[1], a[2], true);
    case Op::ieq:
      return a[0] == a[1];
    case Op::ine:
      return a[0] != a[1];
    case Op::ult:
      return a[0] < a[1];
    case Op::ule:
      return a[0] <= a[1];
    case Op::slt:
      return s(0) < s(1);
    case Op::sle:
      return s(0) <= s(1);
    case Op::bitcast:
    case Op::zext:
    case Op::truncate:
      return a[0];
    case Op::sext:
      return static_cast<uint64_t>(s(0));
    case Op::pack64:
      return (a[0] & 0xffffffff) | a[1] << 32;
    case Op::low32:
      return a[0];
    case Op::high32:
      return a[0] >> 32;
    case Op::mask_nonzero:
      // Operands: the mask's words (the boolean form is left out of slices).
      return (a[0] | a[1]) != 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool sliceable(Op op, Type type) {
  if (type == Type::none) return false;
  switch (op) {
    case Op::constant:
    case Op::user_data:
    case Op::code_address:
    case Op::load:
    case Op::component:
    case Op::select:
    case Op::bitcast:
      return true;
    case Op::iadd:
    case Op::isub:
    case Op::imul:
    case Op::umul_high:
    case Op::smul_high:
    case Op::iand:
    case Op::ior:
    case Op::ixor:
    case Op::inot:
    case Op::shl:
    case Op::lshr:
    case Op::ashr:
    case Op::umin:
    case Op::umax:
    case Op::smin:
    case Op::smax:
    case Op::bit_count:
    case Op::bit_reverse:
    case Op::find_lsb:
    case Op::find_umsb:
    case Op::find_smsb:
    case Op::bitfield_u:
    case Op::bitfield_s:
    case Op::ieq:
    case Op::ine:
    case Op::ult:
    case Op::ule:
    case Op::slt:
    case Op::sle:
    case Op::zext:
    case Op::sext:
    case Op::truncate:
    case Op::pack64:
    case Op::low32:
    case Op::high32:
    case Op::mask_nonzero:
      return true;
    default:
      return false;
  }
}

std::expected<std::array<uint64_t, 4>, SliceError> evaluate(std::span<const SliceStep> steps,
                                                            const std::array<uint16_t, 4>& wanted,
                                                            const SliceInput& input) {
  if (steps.size() > kMostSliceSteps) return std::unexpected(SliceError{});
  Evaluation evaluation(steps, input);
  std::array<uint64_t, 4> out{};
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!evaluation.compute(wanted[i])) return std::unexpected(evaluation.error());
    out[i] = evaluation.value(wanted[i]);
  }
  return out;
}

DescriptorSource DescriptorSource::user(uint32_t first) {
  DescriptorSource source;
  for (uint16_t i = 0; i < 4; ++i) {
    source.steps.push_back({.op = Op::user_data, .imm = first + i});
    source.words[i] = i;
  }
  return source;
}

DescriptorSource DescriptorSource::chain(uint32_t first, std::initializer_list<uint32_t> offsets) {
  DescriptorSource source;
  const auto add = [&](const SliceStep& step) {
    source.steps.push_back(step);
    return static_cast<uint16_t>(source.steps.size() - 1);
  };
  const auto always = add({.op = Op::constant, .type = Type::b1, .imm = 1});
  uint16_t low = add({.op = Op::user_data, .imm = first}), high = add({.op = Op::user_data, .imm = first + 1});
  for (size_t i = 0; i < offsets.size(); ++i) {
    const bool last = i + 1 == offsets.size();
    const auto address = add({.op = Op::pack64, .type = Type::u64, .count = 2, .args = {low, high}});
    const auto load = add({.op = Op::load,
                           .count = 2,
                           .args = {always, address},
                           .imm = load_imm(static_cast<int32_t>(offsets.begin()[i]), last ? 4 : 2)});
    for (uint16_t k = 0; k < (last ? 4 : 2); ++k) {
      const auto word = add({.op = Op::component, .count = 1, .args = {load}, .imm = k});
      if (last) {
        source.words[k] = word;
      } else {
        (k == 0 ? low : high) = word;
      }
    }
  }
  return source;
}

bool DescriptorSource::reads_memory() const {
  return std::ranges::find(steps, Op::load, &SliceStep::op) != steps.end();
}

const char* text(TraceEnd end) {
  switch (end) {
    case TraceEnd::group:
      return "it may differ from group to group";
    case TraceEnd::wave:
      return "it may differ from wave to wave";
    case TraceEnd::lanes:
      return "the lanes make it";
    case TraceEnd::loop:
      return "a loop carries it";
    case TraceEnd::paths:
      return "several paths bring it";
    case TraceEnd::operation:
      return "an operation makes it that is not followed";
    case TraceEnd::undefined:
      return "it is made of a register that nobody wrote";
    case TraceEnd::too_long:
      return "too much scalar code makes it";
  }
  return "?";
}

}  // namespace orrery::shader
