// v_cmp and v_cmpx of every type.
#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

struct Half {
  uint16_t bits;
};

template <class T>
void fetch_as(Wave& wave, const Step& step, unsigned index, Lanes<T>& out) {
  if constexpr (std::is_floating_point_v<T>) {
    fetch(wave, step, index, out);
  } else if constexpr (sizeof(T) == 8) {
    fetch(wave, step, index, reinterpret_cast<Lanes<uint64_t>&>(out));
  } else if constexpr (sizeof(T) == 4) {
    fetch(wave, step, index, reinterpret_cast<Lanes<uint32_t>&>(out));
  } else {
    fetch_half(wave, step, index, reinterpret_cast<Lanes<uint16_t>&>(out));
  }
}
// Halves compare as floats.
void fetch_as(Wave& wave, const Step& step, unsigned index, Lanes<Half>& out, Lanes<float>& value) {
  fetch_float_half(wave, step, index, reinterpret_cast<Lanes<uint16_t>&>(out));
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    value[lane] = half_to_float(out[lane].bits);
  }
}

template <bool kWritesExec>
void give(Wave& wave, const Step& step, uint64_t mask) {
  write_mask(wave, kWritesExec ? kExec : step.destination, mask);
}

template <class T, bool kWritesExec, auto F>
void compare(Wave& wave, const Step& step) {
  uint64_t mask = 0;
  if constexpr (std::is_same_v<T, Half>) {
    Lanes<Half> raw;
    Lanes<float> a, b;
    fetch_as(wave, step, 0, raw, a);
    fetch_as(wave, step, 1, raw, b);
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      mask |= uint64_t{F(a[lane], b[lane])} << lane;
    }
  } else {
    Lanes<T> a, b;
    fetch_as(wave, step, 0, a);
    fetch_as(wave, step, 1, b);
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      mask |= uint64_t{F(a[lane], b[lane])} << lane;
    }
  }
  give<kWritesExec>(wave, step, mask);
}

// Bits: signaling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf.
template <class U, unsigned kMantissa>
unsigned class_of(U bits) {
  constexpr unsigned kWidth = sizeof(U) * 8;
  const bool negative = bits >> (kWidth - 1) != 0;
  const U exponent = static_cast<U>(bits << 1) >> (kMantissa + 1), mantissa = bits & ((U(1) << kMantissa) - 1);
  constexpr U kMaximum = (U(1) << (kWidth - 1 - kMantissa)) - 1;
  if (exponent == kMaximum && mantissa != 0) {
    return (mantissa >> (kMantissa - 1)) != 0 ? 1 : 0;
  }
  unsigned kind = 0;  // 0 zero, 1 denormal, 2 normal, 3 infinity
  if (exponent == kMaximum) {
    kind = 3;
  } else {
    kind = exponent != 0 ? 2 : mantissa != 0 ? 1 : 0;
  }
  return negative ? 5 - kind : 6 + kind;
}

template <class T, bool kWritesExec>
void compare_class(Wave& wave, const Step& step) {
  Lanes<uint32_t> classes;
  fetch(wave, step, 1, classes);
  const Source& source = step.sources[0];
  uint64_t mask = 0;
  const auto note = [&](uint32_t lane, unsigned number) { mask |= uint64_t{classes[lane] >> number & 1} << lane; };
  // The class is of the bits: MODE's denormal setting does not hide denormals.
  if constexpr (std::is_same_v<T, Half>) {
    Lanes<uint16_t> a;
    fetch_half(wave, step, 0, a);
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      const auto bits =
          static_cast<uint16_t>((a[lane] & (source.absolute ? 0x7fff : 0xffff)) ^ (source.negate ? 0x8000 : 0));
      note(lane, class_of<uint32_t, 10 + 16>(uint32_t{bits} << 16));
    }
  } else if constexpr (sizeof(T) == 4) {
    Lanes<uint32_t> a;
    fetch(wave, step, 0, a);
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      note(lane, class_of<uint32_t, 23>((a[lane] & (source.absolute ? 0x7fffffffu : ~0u)) ^
                                        (source.negate ? 0x80000000u : 0)));
    }
  } else {
    Lanes<uint64_t> a;
    fetch(wave, step, 0, a);
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      note(lane, class_of<uint64_t, 52>((a[lane] & (source.absolute ? ~0ull >> 1 : ~0ull)) ^
                                        (source.negate ? 1ull << 63 : 0)));
    }
  }
  give<kWritesExec>(wave, step, mask);
}

template <class V>
bool ordered(V a, V b) {
  return a == a && b == b;
}

}  // namespace

Handler vector_compare_handler(Opcode opcode) {
  switch (opcode) {
    // clang-format off: one relation per entry
#define ORRERY_ONE(kind, name, T, ...)                                      \
  case Opcode::v_cmp_##name##_##kind:                                       \
    return compare<T, false, ([](auto a, auto b) { return __VA_ARGS__; })>; \
  case Opcode::v_cmpx_##name##_##kind:                                      \
    return compare<T, true, ([](auto a, auto b) { return __VA_ARGS__; })>;
#define ORRERY_FLOATS(kind, T)                                                \
  ORRERY_ONE(kind, f, T, (static_cast<void>(a), static_cast<void>(b), false)) \
  ORRERY_ONE(kind, lt, T, a < b)                                              \
  ORRERY_ONE(kind, eq, T, a == b)                                             \
  ORRERY_ONE(kind, le, T, a <= b)                                             \
  ORRERY_ONE(kind, gt, T, (a > b))                                            \
  ORRERY_ONE(kind, lg, T, (a < b || a > b))                                   \
  ORRERY_ONE(kind, ge, T, (a >= b))                                           \
  ORRERY_ONE(kind, o, T, ordered(a, b))                                       \
  ORRERY_ONE(kind, u, T, !ordered(a, b))                                      \
  ORRERY_ONE(kind, nge, T, !(a >= b))                                         \
  ORRERY_ONE(kind, nlg, T, !(a < b || a > b))                                 \
  ORRERY_ONE(kind, ngt, T, !(a > b))                                          \
  ORRERY_ONE(kind, nle, T, !(a <= b))                                         \
  ORRERY_ONE(kind, neq, T, !(a == b))                                         \
  ORRERY_ONE(kind, nlt, T, !(a < b))                                          \
  ORRERY_ONE(kind, tru, T, (static_cast<void>(a), static_cast<void>(b), true)) \
  case Opcode::v_cmp_class_##kind: return compare_class<T, false>;            \
  case Opcode::v_cmpx_class_##kind: return compare_class<T, true>;
#define ORRERY_SIX(kind, T)        \
  ORRERY_ONE(kind, lt, T, a < b)   \
  ORRERY_ONE(kind, eq, T, a == b)  \
  ORRERY_ONE(kind, le, T, a <= b)  \
  ORRERY_ONE(kind, gt, T, (a > b)) \
  ORRERY_ONE(kind, ne, T, a != b)  \
  ORRERY_ONE(kind, ge, T, (a >= b))
#define ORRERY_INTEGERS(kind, T)                                              \
  ORRERY_SIX(kind, T)                                                         \
  ORRERY_ONE(kind, f, T, (static_cast<void>(a), static_cast<void>(b), false)) \
  ORRERY_ONE(kind, t, T, (static_cast<void>(a), static_cast<void>(b), true))
    // clang-format on
    ORRERY_FLOATS(f32, float)
    ORRERY_FLOATS(f64, double)
    ORRERY_FLOATS(f16, Half)
    ORRERY_INTEGERS(i32, int32_t)
    ORRERY_INTEGERS(u32, uint32_t)
    ORRERY_INTEGERS(i64, int64_t)
    ORRERY_INTEGERS(u64, uint64_t)
    ORRERY_SIX(i16, int16_t)
    ORRERY_SIX(u16, uint16_t)
#undef ORRERY_INTEGERS
#undef ORRERY_SIX
#undef ORRERY_FLOATS
#undef ORRERY_ONE
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
