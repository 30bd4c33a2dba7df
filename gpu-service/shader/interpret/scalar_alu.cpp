// SOP1, SOP2, SOPC: arithmetic on scalar registers.
#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

void set_destination(Wave& wave, const Step& step, uint32_t value) { wave.set(step.destination, value); }
void set_destination(Wave& wave, const Step& step, uint64_t value) { wave.set_pair(step.destination, value); }

template <class T>
T source(const Wave& wave, const Step& step, unsigned index) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(scalar64(wave, step.sources[index]));
  } else {
    return static_cast<T>(scalar32(wave, step.sources[index]));
  }
}

// Result, and SCC = result is not zero.
template <class R, class A, class B, auto F>
void logic(Wave& wave, const Step& step) {
  const auto result = static_cast<R>(F(source<A>(wave, step, 0), source<B>(wave, step, 1)));
  set_destination(wave, step, result);
  wave.scc = result != 0;
}
// Result only.
template <class R, class A, class B, auto F>
void plain(Wave& wave, const Step& step) {
  set_destination(wave, step, static_cast<R>(F(source<A>(wave, step, 0), source<B>(wave, step, 1))));
}
template <class R, class A, auto F>
void unary(Wave& wave, const Step& step) {
  set_destination(wave, step, static_cast<R>(F(source<A>(wave, step, 0))));
}
template <class R, class A, auto F>
void unary_logic(Wave& wave, const Step& step) {
  const auto result = static_cast<R>(F(source<A>(wave, step, 0)));
  set_destination(wave, step, result);
  wave.scc = result != 0;
}
// F(a, b, scc) gives the exact result; SCC is what `Carry` says of it.
template <auto F>
void with_flag(Wave& wave, const Step& step) {
  bool flag = wave.scc;
  const uint32_t result = F(source<uint32_t>(wave, step, 0), source<uint32_t>(wave, step, 1), flag);
  set_destination(wave, step, result);
  wave.scc = flag;
}
template <class A, class B, auto F>
void compare(Wave& wave, const Step& step) {
  wave.scc = F(source<A>(wave, step, 0), source<B>(wave, step, 1));
}
// D = EXEC, EXEC = F(S0, EXEC), SCC = EXEC is not zero; `write` also gives the new EXEC in D.
template <class T, auto F, bool kGivesNew = false>
void exec_logic(Wave& wave, const Step& step) {
  const auto a = source<T>(wave, step, 0);
  const T old = static_cast<T>(sizeof(T) == 8 ? wave.pair(kExec) : wave.sgpr[kExec]);
  const auto result = static_cast<T>(F(a, old));
  set_destination(wave, step, kGivesNew ? result : old);
  if constexpr (sizeof(T) == 8) {
    wave.set_pair(kExec, result);
  } else {
    wave.set(kExec, result);
  }
  wave.scc = result != 0;
}

template <class T>
T bit_field(T value, uint32_t control, unsigned offset_bits) {
  constexpr unsigned kWidth = sizeof(T) * 8;
  const unsigned offset = control & ((1u << offset_bits) - 1), width = control >> 16 & 0x7f;
  using U = std::make_unsigned_t<T>;
  if (width == 0) {
    return 0;
  }
  const U shifted = static_cast<U>(value >> offset);  // arithmetic for signed types
  if (width >= kWidth || offset + width >= kWidth) {
    return static_cast<T>(shifted);
  }
  return static_cast<T>(static_cast<T>(shifted << (kWidth - width)) >> (kWidth - width));
}

template <class T>
T quad_mask(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 2; ++i) {
    result |= static_cast<T>((value >> (4 * i) & 15) != 0 ? T(1) << i : T(0));
  }
  return result;
}
template <class T>
T whole_quads(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 2; ++i) {
    result |= static_cast<T>((value >> (4 * i) & 15) != 0 ? T(15) << (4 * i) : T(0));
  }
  return result;
}
template <class T>
T reversed(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) {
    result |= (value >> i & 1) << (sizeof(T) * 8 - 1 - i);
  }
  return result;
}
template <class T>
uint32_t first_one(T value) {
  return value == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(value));
}
template <class T>
uint32_t leading_zeros(T value) {
  return value == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(value));
}
// Leading bits equal to the sign, or -1 when all are.
template <class T>
uint32_t leading_sign(T value) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(value < 0 ? ~value : value);
  return bits == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(bits));
}

template <class T>
void conditional_move(Wave& wave, const Step& step) {
  if (wave.scc) {
    set_destination(wave, step, source<T>(wave, step, 0));
  }
}
template <class T>
void conditional_select(Wave& wave, const Step& step) {
  set_destination(wave, step, source<T>(wave, step, wave.scc ? 0 : 1));
}
template <bool kSet, class T>
void set_bit(Wave& wave, const Step& step) {
  const uint32_t index = scalar32(wave, step.sources[0]) & (sizeof(T) * 8 - 1);
  const T old = static_cast<T>(sizeof(T) == 8 ? wave.pair(step.destination) : wave.sgpr[step.destination]);
  set_destination(wave, step, static_cast<T>(kSet ? old | T(1) << index : old & ~(T(1) << index)));
}
// M0 moves the source or the result. ISA document, "Out-of-range behavior": a source outside reads s0, a result outside
// is dropped.
constexpr uint32_t kSgprs = 106;

template <bool kSource, unsigned kDwords>
void move_relative(Wave& wave, const Step& step) {
  const bool reads = step.sources[0].kind == SourceKind::sgpr;
  if (kSource ? !reads || step.sources[0].index >= kSgprs : step.destination >= kSgprs) {
    wave.refuse(step, kSource ? "relative source that is no SGPR" : "relative result that is no SGPR");
    return;
  }
  const uint32_t m0 = wave.sgpr[kM0], from = step.sources[0].index + (kSource ? m0 : 0);
  const uint32_t to = step.destination + (kSource ? 0 : m0);
  uint64_t value = 0;
  if (kSource) {
    value = wave.pair(from <= kSgprs - kDwords ? from : 0);
  } else {
    value = kDwords == 2 ? scalar64(wave, step.sources[0]) : scalar32(wave, step.sources[0]);
  }
  if (!kSource && to > kSgprs - kDwords) {
    return;
  }
  kDwords == 2 ? wave.set_pair(to, value) : wave.set(to, static_cast<uint32_t>(value));
}
void move_relative_both(Wave& wave, const Step& step) {
  if (step.sources[0].kind != SourceKind::sgpr || step.sources[0].index >= kSgprs || step.destination >= kSgprs) {
    wave.refuse(step, "relative move of what is no SGPR");
    return;
  }
  const uint32_t from = step.sources[0].index + (wave.sgpr[kM0] & 0x3ff),
                 to = step.destination + (wave.sgpr[kM0] >> 16 & 0x3ff);
  if (to < kSgprs) {
    wave.set(to, wave.sgpr[from < kSgprs ? from : 0]);
  }
}

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

Handler arithmetic_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_add_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        f = (u64{a} + b) >> 32;
        return a + b;
      })>;
    case Opcode::s_sub_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        f = b > a;
        return a - b;
      })>;
    case Opcode::s_add_i32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        i32 r;
        f = __builtin_add_overflow(i32(a), i32(b), &r);
        return u32(r);
      })>;
    case Opcode::s_sub_i32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        i32 r;
        f = __builtin_sub_overflow(i32(a), i32(b), &r);
        return u32(r);
      })>;
    case Opcode::s_addc_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        const u64 r = u64{a} + b + f;
        f = r >> 32;
        return u32(r);
      })>;
    case Opcode::s_subb_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        const u32 r = a - b - f;
        f = u64{b} + f > a;
        return r;
      })>;
    case Opcode::s_min_i32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        f = i32(a) < i32(b);
        return f ? a : b;
      })>;
    case Opcode::s_min_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        f = a < b;
        return f ? a : b;
      })>;
    case Opcode::s_max_i32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        f = i32(a) > i32(b);
        return f ? a : b;
      })>;
    case Opcode::s_max_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        f = a > b;
        return f ? a : b;
      })>;
    case Opcode::s_mul_i32:
      return plain<u32, u32, u32, ([](u32 a, u32 b) { return a * b; })>;
    case Opcode::s_mul_hi_u32:
      return plain<u32, u32, u32, ([](u32 a, u32 b) { return u32(u64{a} * b >> 32); })>;
    case Opcode::s_mul_hi_i32:
      return plain<u32, i32, i32, ([](i32 a, i32 b) { return u32(u64(i64{a} * b) >> 32); })>;
    case Opcode::s_lshl1_add_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        const u64 r = (u64{a} << 1) + b;
        f = r >> 32;
        return u32(r);
      })>;
    case Opcode::s_lshl2_add_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        const u64 r = (u64{a} << 2) + b;
        f = r >> 32;
        return u32(r);
      })>;
    case Opcode::s_lshl3_add_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        const u64 r = (u64{a} << 3) + b;
        f = r >> 32;
        return u32(r);
      })>;
    case Opcode::s_lshl4_add_u32:
      return with_flag<([](u32 a, u32 b, bool& f) {
        const u64 r = (u64{a} << 4) + b;
        f = r >> 32;
        return u32(r);
      })>;
    case Opcode::s_absdiff_i32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) {
                     const u32 d = a - b;
                     return i32(d) < 0 ? 0 - d : d;
                   })>;
    case Opcode::s_abs_i32:
      return unary_logic<u32, u32, ([](u32 a) { return i32(a) < 0 ? 0 - a : a; })>;
    case Opcode::s_sext_i32_i8:
      return unary<u32, u32, ([](u32 a) { return u32(i32(int8_t(a))); })>;
    case Opcode::s_sext_i32_i16:
      return unary<u32, u32, ([](u32 a) { return u32(i32(int16_t(a))); })>;
    case Opcode::s_pack_ll_b32_b16:
      return plain<u32, u32, u32, ([](u32 a, u32 b) { return (a & 0xffff) | b << 16; })>;
    case Opcode::s_pack_lh_b32_b16:
      return plain<u32, u32, u32, ([](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); })>;
    case Opcode::s_pack_hh_b32_b16:
      return plain<u32, u32, u32, ([](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); })>;
    default:
      return nullptr;
  }
}

Handler bit_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_and_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return a & b; })>;
    case Opcode::s_and_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return a & b; })>;
    case Opcode::s_or_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return a | b; })>;
    case Opcode::s_or_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return a | b; })>;
    case Opcode::s_xor_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return a ^ b; })>;
    case Opcode::s_xor_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return a ^ b; })>;
    case Opcode::s_andn2_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return a & ~b; })>;
    case Opcode::s_andn2_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return a & ~b; })>;
    case Opcode::s_orn2_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return a | ~b; })>;
    case Opcode::s_orn2_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return a | ~b; })>;
    case Opcode::s_nand_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return ~(a & b); })>;
    case Opcode::s_nand_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return ~(a & b); })>;
    case Opcode::s_nor_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return ~(a | b); })>;
    case Opcode::s_nor_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return ~(a | b); })>;
    case Opcode::s_xnor_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return ~(a ^ b); })>;
    case Opcode::s_xnor_b64:
      return logic<u64, u64, u64, ([](u64 a, u64 b) { return ~(a ^ b); })>;
    case Opcode::s_lshl_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return a << (b & 31); })>;
    case Opcode::s_lshl_b64:
      return logic<u64, u64, u32, ([](u64 a, u32 b) { return a << (b & 63); })>;
    case Opcode::s_lshr_b32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return a >> (b & 31); })>;
    case Opcode::s_lshr_b64:
      return logic<u64, u64, u32, ([](u64 a, u32 b) { return a >> (b & 63); })>;
    case Opcode::s_ashr_i32:
      return logic<u32, i32, u32, ([](i32 a, u32 b) { return a >> (b & 31); })>;
    case Opcode::s_ashr_i64:
      return logic<u64, i64, u32, ([](i64 a, u32 b) { return a >> (b & 63); })>;
    case Opcode::s_bfm_b32:
      return plain<u32, u32, u32, ([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })>;
    case Opcode::s_bfm_b64:
      return plain<u64, u32, u32, ([](u32 a, u32 b) { return ((u64{1} << (a & 63)) - 1) << (b & 63); })>;
    case Opcode::s_bfe_u32:
      return logic<u32, u32, u32, ([](u32 a, u32 b) { return bit_field(a, b, 5); })>;
    case Opcode::s_bfe_i32:
      return logic<u32, i32, u32, ([](i32 a, u32 b) { return bit_field(a, b, 5); })>;
    case Opcode::s_bfe_u64:
      return logic<u64, u64, u32, ([](u64 a, u32 b) { return bit_field(a, b, 6); })>;
    case Opcode::s_bfe_i64:
      return logic<u64, i64, u32, ([](i64 a, u32 b) { return bit_field(a, b, 6); })>;
    case Opcode::s_not_b32:
      return unary_logic<u32, u32, ([](u32 a) { return ~a; })>;
    case Opcode::s_not_b64:
      return unary_logic<u64, u64, ([](u64 a) { return ~a; })>;
    case Opcode::s_wqm_b32:
      return unary_logic<u32, u32, ([](u32 a) { return whole_quads(a); })>;
    case Opcode::s_wqm_b64:
      return unary_logic<u64, u64, ([](u64 a) { return whole_quads(a); })>;
    case Opcode::s_quadmask_b32:
      return unary_logic<u32, u32, ([](u32 a) { return quad_mask(a); })>;
    case Opcode::s_quadmask_b64:
      return unary_logic<u64, u64, ([](u64 a) { return quad_mask(a); })>;
    case Opcode::s_brev_b32:
      return unary<u32, u32, ([](u32 a) { return reversed(a); })>;
    case Opcode::s_brev_b64:
      return unary<u64, u64, ([](u64 a) { return reversed(a); })>;
    case Opcode::s_bcnt0_i32_b32:
      return unary_logic<u32, u32, ([](u32 a) { return std::popcount(~a); })>;
    case Opcode::s_bcnt0_i32_b64:
      return unary_logic<u32, u64, ([](u64 a) { return std::popcount(~a); })>;
    case Opcode::s_bcnt1_i32_b32:
      return unary_logic<u32, u32, ([](u32 a) { return std::popcount(a); })>;
    case Opcode::s_bcnt1_i32_b64:
      return unary_logic<u32, u64, ([](u64 a) { return std::popcount(a); })>;
    case Opcode::s_ff0_i32_b32:
      return unary<u32, u32, ([](u32 a) { return first_one(~a); })>;
    case Opcode::s_ff0_i32_b64:
      return unary<u32, u64, ([](u64 a) { return first_one(~a); })>;
    case Opcode::s_ff1_i32_b32:
      return unary<u32, u32, ([](u32 a) { return first_one(a); })>;
    case Opcode::s_ff1_i32_b64:
      return unary<u32, u64, ([](u64 a) { return first_one(a); })>;
    case Opcode::s_flbit_i32_b32:
      return unary<u32, u32, ([](u32 a) { return leading_zeros(a); })>;
    case Opcode::s_flbit_i32_b64:
      return unary<u32, u64, ([](u64 a) { return leading_zeros(a); })>;
    case Opcode::s_flbit_i32:
      return unary<u32, i32, ([](i32 a) { return leading_sign(a); })>;
    case Opcode::s_flbit_i32_i64:
      return unary<u32, i64, ([](i64 a) { return leading_sign(a); })>;
    case Opcode::s_bitset0_b32:
      return set_bit<false, u32>;
    case Opcode::s_bitset0_b64:
      return set_bit<false, u64>;
    case Opcode::s_bitset1_b32:
      return set_bit<true, u32>;
    case Opcode::s_bitset1_b64:
      return set_bit<true, u64>;
    case Opcode::s_bitreplicate_b64_b32:
      return unary<u64, u32, ([](u32 a) {
                     u64 r = 0;
                     for (unsigned i = 0; i < 32; ++i) r |= u64{(a >> i & 1) * 3} << (2 * i);
                     return r;
                   })>;
    default:
      return nullptr;
  }
}

Handler exec_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_and_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return a & e; })>;
    case Opcode::s_and_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return a & e; })>;
    case Opcode::s_or_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return a | e; })>;
    case Opcode::s_or_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return a | e; })>;
    case Opcode::s_xor_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return a ^ e; })>;
    case Opcode::s_xor_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return a ^ e; })>;
    case Opcode::s_andn2_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return a & ~e; })>;
    case Opcode::s_andn2_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return a & ~e; })>;
    case Opcode::s_orn2_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return a | ~e; })>;
    case Opcode::s_orn2_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return a | ~e; })>;
    case Opcode::s_nand_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return ~(a & e); })>;
    case Opcode::s_nand_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return ~(a & e); })>;
    case Opcode::s_nor_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return ~(a | e); })>;
    case Opcode::s_nor_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return ~(a | e); })>;
    case Opcode::s_xnor_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return ~(a ^ e); })>;
    case Opcode::s_xnor_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return ~(a ^ e); })>;
    case Opcode::s_andn1_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return ~a & e; })>;
    case Opcode::s_andn1_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return ~a & e; })>;
    case Opcode::s_orn1_saveexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return ~a | e; })>;
    case Opcode::s_orn1_saveexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return ~a | e; })>;
    case Opcode::s_andn1_wrexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return ~a & e; }), true>;
    case Opcode::s_andn1_wrexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return ~a & e; }), true>;
    case Opcode::s_andn2_wrexec_b32:
      return exec_logic<u32, ([](u32 a, u32 e) { return a & ~e; }), true>;
    case Opcode::s_andn2_wrexec_b64:
      return exec_logic<u64, ([](u64 a, u64 e) { return a & ~e; }), true>;
    default:
      return nullptr;
  }
}

Handler compare_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_cmp_eq_i32:
    case Opcode::s_cmp_eq_u32:
      return compare<u32, u32, ([](u32 a, u32 b) { return a == b; })>;
    case Opcode::s_cmp_lg_i32:
    case Opcode::s_cmp_lg_u32:
      return compare<u32, u32, ([](u32 a, u32 b) { return a != b; })>;
    case Opcode::s_cmp_gt_i32:
      return compare<i32, i32, ([](i32 a, i32 b) { return a > b; })>;
    case Opcode::s_cmp_ge_i32:
      return compare<i32, i32, ([](i32 a, i32 b) { return a >= b; })>;
    case Opcode::s_cmp_lt_i32:
      return compare<i32, i32, ([](i32 a, i32 b) { return a < b; })>;
    case Opcode::s_cmp_le_i32:
      return compare<i32, i32, ([](i32 a, i32 b) { return a <= b; })>;
    case Opcode::s_cmp_gt_u32:
      return compare<u32, u32, ([](u32 a, u32 b) { return a > b; })>;
    case Opcode::s_cmp_ge_u32:
      return compare<u32, u32, ([](u32 a, u32 b) { return a >= b; })>;
    case Opcode::s_cmp_lt_u32:
      return compare<u32, u32, ([](u32 a, u32 b) { return a < b; })>;
    case Opcode::s_cmp_le_u32:
      return compare<u32, u32, ([](u32 a, u32 b) { return a <= b; })>;
    case Opcode::s_cmp_eq_u64:
      return compare<u64, u64, ([](u64 a, u64 b) { return a == b; })>;
    case Opcode::s_cmp_lg_u64:
      return compare<u64, u64, ([](u64 a, u64 b) { return a != b; })>;
    case Opcode::s_bitcmp0_b32:
      return compare<u32, u32, ([](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; })>;
    case Opcode::s_bitcmp1_b32:
      return compare<u32, u32, ([](u32 a, u32 b) { return (a >> (b & 31) & 1) == 1; })>;
    case Opcode::s_bitcmp0_b64:
      return compare<u64, u32, ([](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; })>;
    case Opcode::s_bitcmp1_b64:
      return compare<u64, u32, ([](u64 a, u32 b) { return (a >> (b & 63) & 1) == 1; })>;
    default:
      return nullptr;
  }
}

Handler move_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_mov_b32:
      return unary<u32, u32, ([](u32 a) { return a; })>;
    case Opcode::s_mov_b64:
      return unary<u64, u64, ([](u64 a) { return a; })>;
    case Opcode::s_cmov_b32:
      return conditional_move<u32>;
    case Opcode::s_cmov_b64:
      return conditional_move<u64>;
    case Opcode::s_cselect_b32:
      return conditional_select<u32>;
    case Opcode::s_cselect_b64:
      return conditional_select<u64>;
    case Opcode::s_movrels_b32:
      return move_relative<true, 1>;
    case Opcode::s_movrels_b64:
      return move_relative<true, 2>;
    case Opcode::s_movreld_b32:
      return move_relative<false, 1>;
    case Opcode::s_movreld_b64:
      return move_relative<false, 2>;
    case Opcode::s_movrelsd_2_b32:
      return move_relative_both;
    default:
      return nullptr;
  }
}

}  // namespace

Handler scalar_alu_handler(Opcode opcode) {
  for (const auto family : {arithmetic_handler, bit_handler, exec_handler, compare_handler, move_handler}) {
    if (const Handler handler = family(opcode)) {
      return handler;
    }
  }
  return nullptr;
}

}  // namespace orrery::shader::interpret
