#include "gpu-service/shader/semantics/known_range.hpp"

#include <algorithm>

namespace orrery::shader::semantics {

using ir::Op;
using ir::Value;

namespace {

constexpr int kDeepest = 6;

KnownRange range_of(const ir::Function& f, Value v, int depth) {
  const ir::Inst& inst = f.at(v);
  if (inst.op == Op::constant) {
    const auto number = static_cast<int32_t>(inst.imm);
    return {number, number};
  }
  if (depth == 0) return {};
  const auto args = f.args(inst);
  const auto arg = [&](size_t n) { return range_of(f, args[n], depth - 1); };
  const auto constant = [&](size_t n) { return f.at(args[n]).op == Op::constant ? f.at(args[n]).imm : ~0u; };
  const auto fitting = [](int64_t low, int64_t high) {  // else it may wrap
    return low >= INT32_MIN && high <= INT32_MAX ? KnownRange{low, high} : KnownRange{};
  };
  switch (inst.op) {
    case Op::iadd: {
      const KnownRange x = arg(0), y = arg(1);
      return fitting(x.low + y.low, x.high + y.high);
    }
    case Op::isub: {
      const KnownRange x = arg(0), y = arg(1);
      return fitting(x.low - y.high, x.high - y.low);
    }
    case Op::select: {
      const KnownRange x = arg(1), y = arg(2);
      return {std::min(x.low, y.low), std::max(x.high, y.high)};
    }
    case Op::shl: {
      const KnownRange x = arg(0);
      const uint32_t by = constant(1);
      return by < 31 ? fitting(x.low * (int64_t{1} << by), x.high * (int64_t{1} << by)) : KnownRange{};
    }
    case Op::bitfield_u: {
      const uint32_t width = constant(2);
      return width < 31 ? KnownRange{0, (int64_t{1} << width) - 1} : KnownRange{};
    }
    case Op::find_umsb:
      return {-1, 31};
    default:
      return {};
  }
}

}  // namespace

KnownRange known_range(const ir::Builder& b, Value v) { return range_of(b.function(), v, kDeepest); }

}  // namespace orrery::shader::semantics
