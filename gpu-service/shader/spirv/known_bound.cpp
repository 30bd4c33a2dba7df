#include "gpu-service/shader/spirv/known_bound.hpp"

#include <algorithm>
#include <bit>

namespace orrery::shader::spirv {

using ir::Op;
using ir::Value;

namespace {

constexpr int kDeepest = 10;
constexpr size_t kMostWays = 4;

class Bounds {
 public:
  Bounds(const ir::Function& f, const TranslateOptions& options) : f_(f), o_(options) {}

  uint64_t of(Value v, int depth) {
    const ir::Inst& inst = f_.at(v);
    if (inst.op == Op::constant) return inst.imm;
    if (depth == 0 || inst.type != ir::Type::u32) return kAny;
    const auto args = f_.args(inst);
    const auto arg = [&](size_t n) { return of(args[n], depth - 1); };
    const auto small = [&](size_t n) { return f_.at(args[n]).op == Op::constant ? f_.at(args[n]).imm : ~0u; };
    switch (inst.op) {
      case Op::copy:
        return arg(0);
      case Op::local_id:
        return thread(inst.imm);
      case Op::lane_id:
        return o_.layout.wave - 1;
      case Op::iadd:
        return fitting(arg(0) + arg(1));
      case Op::imul:
        return fitting(arg(0) * arg(1));
      case Op::iand:
      case Op::umin:
        return std::min(arg(0), arg(1));
      case Op::ior:
      case Op::ixor:
        return std::bit_ceil(std::max(arg(0), arg(1)) + 1) - 1;
      case Op::umax:
        return std::max(arg(0), arg(1));
      case Op::shl:
        return small(1) < 32 ? fitting(arg(0) << small(1)) : kAny;
      case Op::lshr:
        return small(1) < 32 ? arg(0) >> small(1) : kAny;
      case Op::bitfield_u:
        return small(2) < 32 ? (uint64_t{1} << small(2)) - 1 : kAny;
      case Op::select:
        return std::max(arg(1), arg(2));
      case Op::load: {
        const ir::Access& a = f_.accesses[inst.imm];
        return a.components == 1 && a.bytes < 4 ? (uint64_t{1} << 8 * a.bytes) - 1 : kAny;
      }
      case Op::phi: {
        // A loop's own value has no bound.
        if (args.size() > kMostWays || std::ranges::find(open_, v.id) != open_.end()) return kAny;
        open_.push_back(v.id);
        uint64_t most = 0;
        for (size_t n = 0; n < args.size() && most < kAny; ++n) most = std::max(most, arg(n));
        open_.pop_back();
        return most;
      }
      default:
        return kAny;
    }
  }

 private:
  static constexpr uint64_t kAny = ~0u;
  static uint64_t fitting(uint64_t v) { return v < kAny ? v : kAny; }  // else it may wrap

  // As the emitter counts them: threads that a last wave has beyond the group go on in the last dimension.
  uint64_t thread(uint32_t dimension) const {
    const auto& size = o_.group_size;
    uint64_t below = 1, above = 1;
    for (uint32_t d = 0; d < 3; ++d) (d < dimension ? below : above) *= d == dimension ? 1 : size[d];
    if (above != 1) return size[dimension] - 1;
    const uint64_t padded = (below * size[dimension] + 63) / 64 * 64;
    return (padded - 1) / below;
  }

  const ir::Function& f_;
  const TranslateOptions& o_;
  std::vector<uint32_t> open_;  // phis on the way
};

}  // namespace

uint32_t known_bound(const ir::Function& f, const TranslateOptions& options, Value v) {
  return static_cast<uint32_t>(Bounds(f, options).of(v, kDeepest));
}

}  // namespace orrery::shader::spirv
