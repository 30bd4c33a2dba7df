// VOP3P: two 16-bit halves at once, mixed precision, integer dot products.
#include <algorithm>

#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;

// Half `high` of a packed source, as op_sel / op_sel_hi choose it.
u16 packed_half(const Step& step, unsigned source, u32 raw, bool high) {
  const u32 selectors = high ? step.instruction->op_select_high : step.instruction->op_select;
  return static_cast<u16>(raw >> ((selectors >> source & 1) != 0 ? 16 : 0));
}
u16 packed_float(const Wave& wave, const Step& step, unsigned source, u32 raw, bool high) {
  const Source& s = step.sources[source];
  const auto value =
      static_cast<u16>(packed_half(step, source, raw, high) ^ ((high ? s.negate_high : s.negate) ? 0x8000 : 0));
  return (Mode{wave.mode}.denorm64() & 1) != 0 ? value : flush_half(value);
}
u16 finished(const Wave& wave, const Step& step, u16 value) {
  const Mode mode{wave.mode};
  if ((mode.denorm64() & 2) == 0) {
    value = flush_half(value);
  }
  if (step.instruction->clamp) {
    const float x = half_to_float(value);
    value = std::isnan(x) ? (mode.dx10_clamp() ? u16{0} : value)
                          : half_from_double(std::clamp(double{x}, 0.0, 1.0) + 0.0, 0);
  }
  return value;
}

// F(halves of the sources, mode) for both halves.
template <unsigned kSources, bool kFloat, auto F>
void packed(Wave& wave, const Step& step) {
  Lanes<u32> raw[3], r;
  for (unsigned i = 0; i < kSources; ++i) {
    fetch(wave, step, i, raw[i]);
  }
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    u16 result[2];
    for (unsigned high = 0; high < 2; ++high) {
      u16 s[3] = {};
      for (unsigned i = 0; i < kSources; ++i) {
        s[i] = kFloat ? packed_float(wave, step, i, raw[i][lane], high != 0)
                      : packed_half(step, i, raw[i][lane], high != 0);
      }
      result[high] = F(s[0], s[1], s[2], step.instruction->clamp, Mode{wave.mode});
      if constexpr (kFloat) {
        result[high] = finished(wave, step, result[high]);
      }
    }
    r[lane] = result[0] | u32{result[1]} << 16;
  }
  write(wave, step, r);
}

u16 narrow_u(i32 exact, bool clamp) { return static_cast<u16>(clamp ? std::clamp(exact, 0, 0xffff) : exact); }
u16 narrow_i(i32 exact, bool clamp) { return static_cast<u16>(clamp ? std::clamp(exact, -32768, 32767) : exact); }
i32 s(u16 a) { return static_cast<i16>(a); }
double f(u16 a) { return half_to_float(a); }

Handler packed_integer_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_pk_mad_i16:
      return packed<3, false, ([](u16 a, u16 b, u16 c, bool k, Mode) { return narrow_i(s(a) * s(b) + s(c), k); })>;
    case Opcode::v_pk_mad_u16:
      return packed<3, false, ([](u16 a, u16 b, u16 c, bool k, Mode) {
                      const uint64_t exact = uint64_t{a} * b + c;
                      return static_cast<u16>(k ? std::min<uint64_t>(exact, 0xffff) : exact);
                    })>;
    case Opcode::v_pk_mul_lo_u16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool k, Mode) {
                      return static_cast<u16>(k ? std::min(u32{a} * b, 0xffffu) : u32{a} * b);
                    })>;
    case Opcode::v_pk_add_i16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool k, Mode) { return narrow_i(s(a) + s(b), k); })>;
    case Opcode::v_pk_sub_i16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool k, Mode) { return narrow_i(s(a) - s(b), k); })>;
    case Opcode::v_pk_add_u16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool k, Mode) { return narrow_u(a + b, k); })>;
    case Opcode::v_pk_sub_u16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool k, Mode) { return narrow_u(a - b, k); })>;
    case Opcode::v_pk_lshlrev_b16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool, Mode) { return static_cast<u16>(b << (a & 15)); })>;
    case Opcode::v_pk_lshrrev_b16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool, Mode) { return static_cast<u16>(b >> (a & 15)); })>;
    case Opcode::v_pk_ashrrev_i16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool, Mode) { return static_cast<u16>(s(b) >> (a & 15)); })>;
    case Opcode::v_pk_max_i16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool, Mode) { return static_cast<u16>(std::max(s(a), s(b))); })>;
    case Opcode::v_pk_min_i16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool, Mode) { return static_cast<u16>(std::min(s(a), s(b))); })>;
    case Opcode::v_pk_max_u16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool, Mode) { return std::max(a, b); })>;
    case Opcode::v_pk_min_u16:
      return packed<2, false, ([](u16 a, u16 b, u16, bool, Mode) { return std::min(a, b); })>;
    default:
      return nullptr;
  }
}

Handler packed_float_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_pk_add_f16:
      return packed<2, true,
                    ([](u16 a, u16 b, u16, bool, Mode m) { return half_from_double(f(a) + f(b), m.round64()); })>;
    case Opcode::v_pk_mul_f16:
      return packed<2, true,
                    ([](u16 a, u16 b, u16, bool, Mode m) { return half_from_double(f(a) * f(b), m.round64()); })>;
    case Opcode::v_pk_fma_f16:
      return packed<3, true, ([](u16 a, u16 b, u16 c, bool, Mode m) { return half_fma(a, b, c, m.round64()); })>;
    case Opcode::v_pk_min_f16:
      return packed<2, true, ([](u16 a, u16 b, u16, bool, Mode m) {
                      return half_from_double(minimum(half_to_float(a), half_to_float(b), m.ieee()), 0);
                    })>;
    case Opcode::v_pk_max_f16:
      return packed<2, true, ([](u16 a, u16 b, u16, bool, Mode m) {
                      return half_from_double(maximum(half_to_float(a), half_to_float(b), m.ieee()), 0);
                    })>;
    default:
      return nullptr;
  }
}

// v_fma_mix: each source is a float, or (op_sel_hi) one half of the register.
float mixed_source(const Wave& wave, const Step& step, unsigned source, u32 raw) {
  const bool is_half = (step.instruction->op_select_high >> source & 1) != 0;
  const Source& s = step.sources[source];
  float value =
      is_half ? half_to_float(static_cast<u16>(raw >> ((step.instruction->op_select >> source & 1) != 0 ? 16 : 0)))
              : std::bit_cast<float>(raw);
  value = s.absolute ? std::fabs(value) : value;
  value = s.negate ? -value : value;
  const Mode mode{wave.mode};
  return ((is_half ? mode.denorm64() : mode.denorm32()) & 1) != 0 ? value : flush(value);
}
void mix(Wave& wave, const Step& step, Lanes<float>& r) {
  const Rounding rounding(Mode{wave.mode}.round32());
  Lanes<u32> raw[3];
  for (unsigned i = 0; i < 3; ++i) {
    fetch(wave, step, i, raw[i]);
  }
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = std::fma(mixed_source(wave, step, 0, raw[0][lane]), mixed_source(wave, step, 1, raw[1][lane]),
                       mixed_source(wave, step, 2, raw[2][lane]));
  }
}
void mix_float(Wave& wave, const Step& step) {
  Lanes<float> r;
  mix(wave, step, r);
  write(wave, step, r);
}
template <bool kHigh>
void mix_half(Wave& wave, const Step& step) {
  Lanes<float> r;
  Lanes<u32> bits;
  mix(wave, step, r);
  const u32* old = wave.row(step.destination);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const u16 half = finished(wave, step, half_from_double(r[lane], Mode{wave.mode}.round64()));
    bits[lane] = kHigh ? (old[lane] & 0xffffu) | u32{half} << 16 : (old[lane] & 0xffff0000u) | half;
  }
  write(wave, step, bits);
}

// v_pk_fmac_f16 has neither op_sel nor modifiers.
void accumulate(Wave& wave, const Step& step) {
  Lanes<u32> a, b, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  const u32* old = wave.row(step.destination);
  const Mode mode{wave.mode};
  const auto in = [&](u32 raw, unsigned shift) {
    const auto half = static_cast<u16>(raw >> shift);
    return (mode.denorm64() & 1) != 0 ? half : flush_half(half);
  };
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = 0;
    for (unsigned shift = 0; shift < 32; shift += 16) {
      const u16 sum = half_fma(in(a[lane], shift), in(b[lane], shift), in(old[lane], shift), mode.round64());
      r[lane] |= u32{finished(wave, step, sum)} << shift;
    }
  }
  write(wave, step, r);
}

// Sum of products of `kBits`-wide fields, plus S2 (or the old result); clamp saturates.
template <unsigned kBits, bool kSigned, bool kAccumulate>
void dot(Wave& wave, const Step& step) {
  Lanes<u32> a, b, c, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  if constexpr (kAccumulate) {
    std::memcpy(c.of, wave.row(step.destination), size_t{wave.lanes} * 4);
  } else {
    fetch(wave, step, 2, c);
  }
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    int64_t sum = kSigned ? int64_t{static_cast<i32>(c[lane])} : int64_t{c[lane]};
    for (unsigned at = 0; at < 32; at += kBits) {
      const auto part = [&](u32 x) {
        const u32 top = x << (32 - kBits - at);
        return kSigned ? int64_t{static_cast<i32>(top) >> (32 - kBits)} : int64_t{top >> (32 - kBits)};
      };
      sum += part(a[lane]) * part(b[lane]);
    }
    if (step.instruction->clamp) {
      sum = kSigned ? std::clamp<int64_t>(sum, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max())
                    : std::min<int64_t>(sum, 0xffffffff);
    }
    r[lane] = static_cast<u32>(sum);
  }
  write(wave, step, r);
}

// v_dot2_f32_f16: products of halves are exact as floats; they are added to S2 one after the other.
void dot_halves(Lanes<float>& sum, const Lanes<float>& a, const Lanes<float>& b, u32 lanes) {
  for (u32 lane = 0; lane < lanes; ++lane) {
    sum[lane] += a[lane] * b[lane];
  }
}
void dot_float(Wave& wave, const Step& step) {
  if (step.sources[2].negate_high) {
    wave.refuse(step, "neg_hi of an addend of 32 bits");
    return;
  }
  const Rounding rounding(Mode{wave.mode}.round32());
  Lanes<u32> raw[3];
  Lanes<float> a, b, sum;
  for (unsigned i = 0; i < 3; ++i) {
    fetch(wave, step, i, raw[i]);
  }
  const bool keeps = (Mode{wave.mode}.denorm32() & 1) != 0;
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const float c = std::bit_cast<float>(raw[2][lane] ^ (step.sources[2].negate ? 0x80000000u : 0));
    sum[lane] = keeps ? c : flush(c);
  }
  for (const bool high : {false, true}) {
    for (u32 lane = 0; lane < wave.lanes; ++lane) {
      a[lane] = half_to_float(packed_float(wave, step, 0, raw[0][lane], high));
      b[lane] = half_to_float(packed_float(wave, step, 1, raw[1][lane], high));
    }
    dot_halves(sum, a, b, wave.lanes);
  }
  write(wave, step, sum);
}
// VOP2, with DPP.
void dot_float_accumulate(Wave& wave, const Step& step) {
  for (unsigned i = 0; i < 2; ++i) {
    if (step.sources[i].negate || step.sources[i].absolute) {
      wave.refuse(step, "modifiers of packed halves");
      return;
    }
  }
  const Rounding rounding(Mode{wave.mode}.round32());
  const Mode mode{wave.mode};
  Lanes<u32> raw[2];
  Lanes<float> a, b, sum;
  fetch(wave, step, 0, raw[0]);
  fetch(wave, step, 1, raw[1]);
  const Source& first = step.sources[0];
  if (first.kind == SourceKind::constant && step.instruction->sources[0].inline_float) {
    for (u32 lane = 0; lane < wave.lanes; ++lane) {
      raw[0][lane] = half_from_double(std::bit_cast<float>(step.instruction->sources[0].value), 0);
    }
  }
  const u32* old = wave.row(step.destination);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const auto c = std::bit_cast<float>(old[lane]);
    sum[lane] = (mode.denorm32() & 1) != 0 ? c : flush(c);
  }
  for (const unsigned shift : {0u, 16u}) {
    const auto half = [&](u32 word) {
      const auto bits = static_cast<u16>(word >> shift);
      return half_to_float((mode.denorm64() & 1) != 0 ? bits : flush_half(bits));
    };
    for (u32 lane = 0; lane < wave.lanes; ++lane) {
      a[lane] = half(raw[0][lane]);
      b[lane] = half(raw[1][lane]);
    }
    dot_halves(sum, a, b, wave.lanes);
  }
  write(wave, step, sum);
}

}  // namespace

Handler vector_packed_handler(Opcode opcode) {
  if (const Handler handler = packed_integer_handler(opcode)) {
    return handler;
  }
  if (const Handler handler = packed_float_handler(opcode)) {
    return handler;
  }
  switch (opcode) {
    case Opcode::v_pk_fmac_f16:
      return accumulate;
    case Opcode::v_fma_mix_f32:
      return mix_float;
    case Opcode::v_fma_mixlo_f16:
      return mix_half<false>;
    case Opcode::v_fma_mixhi_f16:
      return mix_half<true>;
    case Opcode::v_dot2_i32_i16:
      return dot<16, true, false>;
    case Opcode::v_dot2_u32_u16:
      return dot<16, false, false>;
    case Opcode::v_dot4_i32_i8:
      return dot<8, true, false>;
    case Opcode::v_dot4_u32_u8:
      return dot<8, false, false>;
    case Opcode::v_dot8_i32_i4:
      return dot<4, true, false>;
    case Opcode::v_dot8_u32_u4:
      return dot<4, false, false>;
    case Opcode::v_dot2_f32_f16:
      return dot_float;
    case Opcode::v_dot2c_f32_f16:
      return dot_float_accumulate;
    case Opcode::v_dot4c_i32_i8:
      return dot<8, true, true>;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
