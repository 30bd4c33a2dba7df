// 32- and 64-bit integer arithmetic, logic and bit operations of VOP1, VOP2 and VOP3.
#include "gpu-service/shader/interpret/vector_templates.hpp"

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

template <auto F>
constexpr Handler k1 = vector1<u32, u32, F>;
template <auto F>
constexpr Handler k2 = vector2<u32, u32, u32, F>;
template <auto F>
constexpr Handler k3 = vector3<u32, u32, u32, u32, F>;

constexpr i32 low24(u32 a) { return static_cast<i32>(a << 8) >> 8; }

// F, or with the clamp bit G, which saturates.
template <auto F, auto G>
void clamped2(Wave& wave, const Step& step) {
  step.instruction->clamp ? k2<G>(wave, step) : k2<F>(wave, step);
}
template <auto F, auto G>
void clamped3(Wave& wave, const Step& step) {
  step.instruction->clamp ? k3<G>(wave, step) : k3<F>(wave, step);
}
constexpr u32 saturate_u(u64 value) { return value > 0xffffffff ? 0xffffffff : static_cast<u32>(value); }
constexpr u32 saturate_i(i64 value) {
  return static_cast<u32>(static_cast<i32>(value < -0x80000000ll ? -0x80000000ll
                                           : value > 0x7fffffff  ? 0x7fffffff
                                                                 : value));
}

// a + b + carry or a - b - borrow: results and the mask of carries.
template <bool kAdd, bool kReverse, bool kCarryIn>
void carry(Wave& wave, const Step& step) {
  Lanes<u32> a, b, r;
  fetch(wave, step, kReverse ? 1 : 0, a);
  fetch(wave, step, kReverse ? 0 : 1, b);
  const u64 in = kCarryIn ? fetch_mask(wave, step, 2) : 0;
  u64 out = 0;
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const u64 c = in >> lane & 1;
    const u64 exact = kAdd ? u64{a[lane]} + b[lane] + c : u64{a[lane]} - b[lane] - c;
    r[lane] = static_cast<u32>(exact);
    const bool overflow = (exact >> 32) != 0;
    out |= u64{overflow} << lane;
    if (step.instruction->clamp && overflow) {
      r[lane] = kAdd ? ~0u : 0;
    }
  }
  write(wave, step, r);
  // SDWA and DPP forms of the carry instructions write VCC as well.
  write_mask(wave, step.destination2, out);
}

// Clamp of a 64-bit result.
u64 saturate_64(bool is_signed, bool overflow, u64 value, u64 product) {
  if (!overflow) return value;
  if (!is_signed) return ~0ull;
  return static_cast<i64>(product) < 0 ? 1ull << 63 : ~0ull >> 1;
}

template <class T>
void mad64(Wave& wave, const Step& step) {
  const bool clamp = step.instruction->clamp;
  Lanes<u32> a, b;
  Lanes<u64> c, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  u64 out = 0;
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if constexpr (std::is_signed_v<T>) {
      const i64 product = i64{static_cast<i32>(a[lane])} * static_cast<i32>(b[lane]);
      i64 sum = 0;
      const bool overflow = __builtin_add_overflow(product, static_cast<i64>(c[lane]), &sum);
      out |= u64{overflow} << lane;
      r[lane] = saturate_64(true, clamp && overflow, static_cast<u64>(product) + c[lane], static_cast<u64>(product));
    } else {
      r[lane] = u64{a[lane]} * b[lane] + c[lane];
      const bool overflow = r[lane] < c[lane];
      out |= u64{overflow} << lane;
      r[lane] = saturate_64(false, clamp && overflow, r[lane], 0);
    }
  }
  write(wave, step, r);
  write_mask(wave, step.destination2, out);
}

void conditional_mask(Wave& wave, const Step& step) {
  Lanes<u32> a, b, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  const Source &s0 = step.sources[0], &s1 = step.sources[1];
  const u64 mask = fetch_mask(wave, step, 2);
  // Neg and abs work on the sign bit, as for floats.
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const u32 x = (a[lane] & (s0.absolute ? 0x7fffffffu : ~0u)) ^ (s0.negate ? 0x80000000u : 0);
    const u32 y = (b[lane] & (s1.absolute ? 0x7fffffffu : ~0u)) ^ (s1.negate ? 0x80000000u : 0);
    r[lane] = active(mask, lane) ? y : x;
  }
  write(wave, step, r);
}

u32 reversed(u32 a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(a);
}
u32 field_u(u32 a, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  return a >> offset & ((1u << width) - 1);
}
u32 field_i(u32 a, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  if (width == 0) return 0;
  if (offset + width >= 32) return static_cast<u32>(static_cast<i32>(a) >> offset);
  return static_cast<u32>(static_cast<i32>(a << (32 - offset - width)) >> (32 - width));
}
u32 perm(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64{a} << 32 | b;
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 s = selector >> (8 * i) & 255;
    u32 byte = 0;
    if (s <= 7) {
      byte = static_cast<u32>(bytes >> (8 * s)) & 255;
    } else if (s <= 11) {  // the sign of bytes 1, 3, 5, 7
      byte = (bytes >> (16 * (s - 8) + 15) & 1) != 0 ? 255 : 0;
    } else {
      byte = s == 12 ? 0 : 255;
    }
    result |= byte << (8 * i);
  }
  return result;
}
u64 sad_u8(u32 a, u32 b, u64 c) {
  for (unsigned i = 0; i < 32; i += 8) {
    const u32 x = a >> i & 255, y = b >> i & 255;
    c += x > y ? x - y : y - x;
  }
  return c;
}
u64 msad_u8(u32 a, u32 b, u64 c) {
  for (unsigned i = 0; i < 32; i += 8) {
    const u32 x = a >> i & 255, y = b >> i & 255;
    c += y == 0 ? 0 : x > y ? x - y : y - x;
  }
  return c;
}
u64 sad_u16(u32 a, u32 b, u64 c) {
  for (unsigned i = 0; i < 32; i += 16) {
    const u32 x = a >> i & 0xffff, y = b >> i & 0xffff;
    c += x > y ? x - y : y - x;
  }
  return c;
}
// F gives the exact sum.
template <auto F>
constexpr Handler kSad = clamped3<([](u32 a, u32 b, u32 c) { return static_cast<u32>(F(a, b, c)); }),
                                  ([](u32 a, u32 b, u32 c) { return saturate_u(F(a, b, c)); })>;

// Four sums over windows of four bytes of S0, one byte apart. ISA document, V_QSAD_PK_U16_U8, V_MQSAD_PK_U16_U8.
template <auto F>
void four_sums_packed(Wave& wave, const Step& step) {
  Lanes<u64> a, c, r;
  Lanes<u32> b;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  fetch(wave, step, 2, c);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = 0;
    for (unsigned n = 0; n < 4; ++n) {
      const u64 sum = F(static_cast<u32>(a[lane] >> (8 * n)), b[lane], c[lane] >> (16 * n) & 0xffff);
      r[lane] |= (step.instruction->clamp ? std::min<u64>(sum, 0xffff) : sum & 0xffff) << (16 * n);
    }
  }
  write(wave, step, r);
}
// V_MQSAD_U32_U8: accumulators and results are four registers.
void four_sums_wide(Wave& wave, const Step& step) {
  if (step.sources[2].kind != SourceKind::vgpr) {
    wave.refuse(step, "accumulator of four registers that is no VGPR");
    return;
  }
  Lanes<u64> a;
  Lanes<u32> b, r[4];
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  for (unsigned n = 0; n < 4; ++n) {
    const u32* c = wave.row(step.sources[2].index + n);
    for (u32 lane = 0; lane < wave.lanes; ++lane) {
      const u64 sum = msad_u8(static_cast<u32>(a[lane] >> (8 * n)), b[lane], c[lane]);
      r[n][lane] = step.instruction->clamp ? saturate_u(sum) : static_cast<u32>(sum);
    }
  }
  for (unsigned n = 0; n < 4; ++n) {
    write_row(wave, step.destination + n, r[n], wave.exec());
  }
}
u32 lerp_u8(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (unsigned i = 0; i < 32; i += 8) {
    result |= (((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1) << i;
  }
  return result;
}
template <class T>
T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

Handler add_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_add_nc_u32:
      return clamped2<([](u32 a, u32 b) { return a + b; }), ([](u32 a, u32 b) { return saturate_u(u64{a} + b); })>;
    case Opcode::v_sub_nc_u32:
      return clamped2<([](u32 a, u32 b) { return a - b; }), ([](u32 a, u32 b) { return a > b ? a - b : 0; })>;
    case Opcode::v_subrev_nc_u32:
      return clamped2<([](u32 a, u32 b) { return b - a; }), ([](u32 a, u32 b) { return b > a ? b - a : 0; })>;
    case Opcode::v_add_nc_i32:
      return clamped2<([](u32 a, u32 b) { return a + b; }),
                      ([](u32 a, u32 b) { return saturate_i(i64{i32(a)} + i32(b)); })>;
    case Opcode::v_sub_nc_i32:
      return clamped2<([](u32 a, u32 b) { return a - b; }),
                      ([](u32 a, u32 b) { return saturate_i(i64{i32(a)} - i32(b)); })>;
    case Opcode::v_add_co_u32:
      return carry<true, false, false>;
    case Opcode::v_sub_co_u32:
      return carry<false, false, false>;
    case Opcode::v_subrev_co_u32:
      return carry<false, true, false>;
    case Opcode::v_add_co_ci_u32:
      return carry<true, false, true>;
    case Opcode::v_sub_co_ci_u32:
      return carry<false, false, true>;
    case Opcode::v_subrev_co_ci_u32:
      return carry<false, true, true>;
    case Opcode::v_add3_u32:
      return k3<([](u32 a, u32 b, u32 c) { return a + b + c; })>;
    case Opcode::v_xad_u32:
      return k3<([](u32 a, u32 b, u32 c) { return (a ^ b) + c; })>;
    case Opcode::v_lshl_add_u32:
      return k3<([](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; })>;
    case Opcode::v_add_lshl_u32:
      return k3<([](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); })>;
    case Opcode::v_sad_u8:
      return kSad<sad_u8>;
    case Opcode::v_sad_hi_u8:
      return kSad<([](u32 a, u32 b, u32 c) { return (sad_u8(a, b, 0) << 16) + c; })>;
    case Opcode::v_sad_u16:
      return kSad<sad_u16>;
    case Opcode::v_sad_u32:
      return kSad<([](u32 a, u32 b, u32 c) { return u64{a > b ? a - b : b - a} + c; })>;
    case Opcode::v_msad_u8:
      return kSad<msad_u8>;
    case Opcode::v_qsad_pk_u16_u8:
      return four_sums_packed<sad_u8>;
    case Opcode::v_mqsad_pk_u16_u8:
      return four_sums_packed<msad_u8>;
    case Opcode::v_mqsad_u32_u8:
      return four_sums_wide;
    case Opcode::v_lerp_u8:
      return k3<([](u32 a, u32 b, u32 c) { return lerp_u8(a, b, c); })>;
    default:
      return nullptr;
  }
}

Handler multiply_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_mul_lo_u32:
    case Opcode::v_mul_lo_i32:
      return k2<([](u32 a, u32 b) { return a * b; })>;
    case Opcode::v_mul_hi_u32:
      return k2<([](u32 a, u32 b) { return u32(u64{a} * b >> 32); })>;
    case Opcode::v_mul_hi_i32:
      return k2<([](u32 a, u32 b) { return u32(u64(i64{i32(a)} * i32(b)) >> 32); })>;
    case Opcode::v_mul_u32_u24:
      return clamped2<([](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }),
                      ([](u32 a, u32 b) { return saturate_u(u64{a & 0xffffff} * (b & 0xffffff)); })>;
    case Opcode::v_mul_i32_i24:
      return clamped2<([](u32 a, u32 b) { return u32(i64{low24(a)} * low24(b)); }),
                      ([](u32 a, u32 b) { return saturate_i(i64{low24(a)} * low24(b)); })>;
    case Opcode::v_mul_hi_u32_u24:
      return k2<([](u32 a, u32 b) { return u32(u64{a & 0xffffff} * (b & 0xffffff) >> 32); })>;
    case Opcode::v_mul_hi_i32_i24:
      return k2<([](u32 a, u32 b) { return u32(u64(i64{low24(a)} * low24(b)) >> 32); })>;
    case Opcode::v_mad_u32_u24:
      return clamped3<([](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }),
                      ([](u32 a, u32 b, u32 c) { return saturate_u(u64{a & 0xffffff} * (b & 0xffffff) + c); })>;
    case Opcode::v_mad_i32_i24:
      return clamped3<([](u32 a, u32 b, u32 c) { return u32(i64{low24(a)} * low24(b)) + c; }),
                      ([](u32 a, u32 b, u32 c) { return saturate_i(i64{low24(a)} * low24(b) + i32(c)); })>;
    case Opcode::v_mad_u64_u32:
      return mad64<u64>;
    case Opcode::v_mad_i64_i32:
      return mad64<i64>;
    default:
      return nullptr;
  }
}

Handler logic_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_mov_b32:
      return k1<([](u32 a) { return a; })>;
    case Opcode::v_not_b32:
      return k1<([](u32 a) { return ~a; })>;
    case Opcode::v_and_b32:
      return k2<([](u32 a, u32 b) { return a & b; })>;
    case Opcode::v_or_b32:
      return k2<([](u32 a, u32 b) { return a | b; })>;
    case Opcode::v_xor_b32:
      return k2<([](u32 a, u32 b) { return a ^ b; })>;
    case Opcode::v_xnor_b32:
      return k2<([](u32 a, u32 b) { return ~(a ^ b); })>;
    case Opcode::v_or3_b32:
      return k3<([](u32 a, u32 b, u32 c) { return a | b | c; })>;
    case Opcode::v_xor3_b32:
      return k3<([](u32 a, u32 b, u32 c) { return a ^ b ^ c; })>;
    case Opcode::v_and_or_b32:
      return k3<([](u32 a, u32 b, u32 c) { return (a & b) | c; })>;
    case Opcode::v_lshl_or_b32:
      return k3<([](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; })>;
    case Opcode::v_lshlrev_b32:
      return k2<([](u32 a, u32 b) { return b << (a & 31); })>;
    case Opcode::v_lshrrev_b32:
      return k2<([](u32 a, u32 b) { return b >> (a & 31); })>;
    case Opcode::v_ashrrev_i32:
      return k2<([](u32 a, u32 b) { return u32(i32(b) >> (a & 31)); })>;
    case Opcode::v_lshlrev_b64:
      return vector2<u64, u32, u64, ([](u32 a, u64 b) { return b << (a & 63); })>;
    case Opcode::v_lshrrev_b64:
      return vector2<u64, u32, u64, ([](u32 a, u64 b) { return b >> (a & 63); })>;
    case Opcode::v_ashrrev_i64:
      return vector2<u64, u32, u64, ([](u32 a, u64 b) { return u64(i64(b) >> (a & 63)); })>;
    case Opcode::v_bfe_u32:
      return k3<([](u32 a, u32 b, u32 c) { return field_u(a, b, c); })>;
    case Opcode::v_bfe_i32:
      return k3<([](u32 a, u32 b, u32 c) { return field_i(a, b, c); })>;
    case Opcode::v_bfi_b32:
      return k3<([](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); })>;
    case Opcode::v_bfm_b32:
      return k2<([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })>;
    case Opcode::v_alignbit_b32:
      return k3<([](u32 a, u32 b, u32 c) { return u32((u64{a} << 32 | b) >> (c & 31)); })>;
    case Opcode::v_alignbyte_b32:
      return k3<([](u32 a, u32 b, u32 c) { return u32((u64{a} << 32 | b) >> (8 * (c & 3))); })>;
    case Opcode::v_perm_b32:
      return k3<([](u32 a, u32 b, u32 c) { return perm(a, b, c); })>;
    case Opcode::v_bfrev_b32:
      return k1<([](u32 a) { return reversed(a); })>;
    case Opcode::v_bcnt_u32_b32:
      return k2<([](u32 a, u32 b) { return u32(std::popcount(a)) + b; })>;
    case Opcode::v_ffbh_u32:
      return k1<([](u32 a) { return a == 0 ? ~0u : u32(std::countl_zero(a)); })>;
    case Opcode::v_ffbl_b32:
      return k1<([](u32 a) { return a == 0 ? ~0u : u32(std::countr_zero(a)); })>;
    case Opcode::v_ffbh_i32:
      return k1<([](u32 a) {
        const u32 b = i32(a) < 0 ? ~a : a;
        return b == 0 ? ~0u : u32(std::countl_zero(b));
      })>;
    case Opcode::v_cndmask_b32:
      return conditional_mask;
    default:
      return nullptr;
  }
}

Handler order_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_min_i32:
      return k2<([](u32 a, u32 b) { return u32(std::min(i32(a), i32(b))); })>;
    case Opcode::v_max_i32:
      return k2<([](u32 a, u32 b) { return u32(std::max(i32(a), i32(b))); })>;
    case Opcode::v_min_u32:
      return k2<([](u32 a, u32 b) { return std::min(a, b); })>;
    case Opcode::v_max_u32:
      return k2<([](u32 a, u32 b) { return std::max(a, b); })>;
    case Opcode::v_min3_i32:
      return k3<([](u32 a, u32 b, u32 c) { return u32(std::min({i32(a), i32(b), i32(c)})); })>;
    case Opcode::v_max3_i32:
      return k3<([](u32 a, u32 b, u32 c) { return u32(std::max({i32(a), i32(b), i32(c)})); })>;
    case Opcode::v_min3_u32:
      return k3<([](u32 a, u32 b, u32 c) { return std::min({a, b, c}); })>;
    case Opcode::v_max3_u32:
      return k3<([](u32 a, u32 b, u32 c) { return std::max({a, b, c}); })>;
    case Opcode::v_med3_i32:
      return k3<([](u32 a, u32 b, u32 c) { return u32(median(i32(a), i32(b), i32(c))); })>;
    case Opcode::v_med3_u32:
      return k3<([](u32 a, u32 b, u32 c) { return median(a, b, c); })>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler vector_integer_handler(Opcode opcode) {
  for (const auto family : {logic_handler, add_handler, multiply_handler, order_handler}) {
    if (const Handler handler = family(opcode)) {
      return handler;
    }
  }
  return nullptr;
}

}  // namespace orrery::shader::interpret
