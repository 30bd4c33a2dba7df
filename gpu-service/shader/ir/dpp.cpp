#include "gpu-service/shader/ir/dpp.hpp"

namespace orrery::shader::ir {
namespace {

struct Route {
  Value lane;   // source lane, u32
  Value valid;  // b1: inside the row; none: always
};

Route route_of(Builder& b, const Dpp& dpp) {
  const Value lane = b.lane_id();
  auto within = [&](uint32_t bits, Value index) { return b.lor(b.land(lane, b.u32(~bits)), index); };
  if (dpp.kind == Dpp::Kind::dpp8) {
    const Value shift = b.op(Op::imul, b.land(lane, b.u32(7)), b.u32(3));
    return {within(7, b.land(b.lshr(b.u32(dpp.lanes), shift), b.u32(7))), {}};
  }
  const uint32_t c = dpp.control, amount = c & 15;
  if (c < 0x100) {  // quad_perm
    const Value shift = b.shl(b.land(lane, b.u32(3)), b.u32(1));
    return {within(3, b.land(b.lshr(b.u32(c), shift), b.u32(3))), {}};
  }
  const Value in_row = b.land(lane, b.u32(15));
  if (c >= 0x101 && c <= 0x10f) return {b.add(lane, b.u32(amount)), b.compare(Op::ult, in_row, b.u32(16 - amount))};
  if (c >= 0x111 && c <= 0x11f) return {b.sub(lane, b.u32(amount)), b.compare(Op::ule, b.u32(amount), in_row)};
  if (c >= 0x121 && c <= 0x12f) return {within(15, b.land(b.sub(lane, b.u32(amount)), b.u32(15))), {}};
  if (c == 0x140) return {b.lxor(lane, b.u32(15)), {}};
  if (c == 0x141) return {b.lxor(lane, b.u32(7)), {}};
  if (c >= 0x150 && c <= 0x15f) return {within(15, b.u32(amount)), {}};
  if (c >= 0x160 && c <= 0x16f) return {b.lxor(lane, b.u32(amount)), {}};
  return {lane, b.b1(false)};
}

// The source lane is inside its row and, unless inactive lanes may be fetched, active.
Value valid_of(Builder& b, const Dpp& dpp, const Route& route) {
  Value valid = route.valid;
  if (!dpp.fetch_inactive && !b.is_true(b.exec())) {
    const Value number = b.sgpr(Builder::kExec, b.wave64() ? Type::u64 : Type::u32);
    const Value index = b.wave64() ? b.zext(Type::u64, route.lane) : route.lane;
    const Value bit = b.land(b.lshr(number, index), b.constant(b.type(number), 1));
    const Value active = b.compare(Op::ine, bit, b.constant(b.type(number), 0));
    valid = valid ? b.land(valid, active) : active;
  }
  return valid;
}

}  // namespace

Value dpp_read(Builder& b, const Dpp& dpp, Value v) {
  const Route route = route_of(b, dpp);
  const Value moved = b.shuffle(v, route.lane);
  const Value valid = valid_of(b, dpp, route);
  return valid ? b.select(valid, moved, b.constant(b.type(v), 0)) : moved;
}

Value dpp_writes(Builder& b, const Dpp& dpp) {
  if (dpp.kind != Dpp::Kind::dpp16) return {};
  Value lanes;
  if (!dpp.bound_control) lanes = valid_of(b, dpp, route_of(b, dpp));
  auto also = [&](uint32_t mask, uint32_t shift) {
    if (mask == 0xf) return;
    const Value index = b.land(b.lshr(b.lane_id(), b.u32(shift)), b.u32(3));
    const Value bit = b.land(b.lshr(b.u32(mask), index), b.u32(1));
    const Value on = b.compare(Op::ine, bit, b.u32(0));
    lanes = lanes ? b.land(lanes, on) : on;
  };
  also(dpp.bank_mask, 2);
  also(dpp.row_mask, 4);
  return lanes;
}

}  // namespace orrery::shader::ir
