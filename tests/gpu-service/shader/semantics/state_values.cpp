#include "tests/gpu-service/shader/semantics/state_values.hpp"

#include <bit>

namespace orrery::shader::semantics::test {
namespace {

uint32_t pick(std::mt19937& random, uint32_t count) { return static_cast<uint32_t>(random() % count); }

uint32_t any_bits(std::mt19937& random) {
  constexpr uint32_t kEdges[] = {0,          1,          2,          31,        32,         33,
                                 0x7f,       0x80,       0xff,       0x7fff,    0x8000,     0xffff,
                                 0x10000,    0x7fffff,   0x800000,   0xffffff,  0x7fffffff, 0x80000000,
                                 0x80000001, 0xfffffffe, 0xffffffff, 0x0c0d0a08};
  switch (pick(random, 4)) {
    case 0:
      return kEdges[pick(random, std::size(kEdges))];
    case 1:
      return static_cast<uint32_t>(random()) >> pick(random, 32);
    default:
      return static_cast<uint32_t>(random());
  }
}

// A float of `exponent` and `mantissa` bits: special values, numbers near 1, any normal number.
uint64_t any_float(std::mt19937& random, uint32_t exponent, uint32_t mantissa) {
  const uint64_t sign = static_cast<uint64_t>(random() & 1) << (exponent + mantissa);
  const uint64_t largest = (1ull << exponent) - 1, bias = largest >> 1;
  const uint64_t fraction = ((uint64_t{random()} << 32) | random()) & ((1ull << mantissa) - 1);
  switch (pick(random, 14)) {
    case 12:
      return sign | fraction;  // denormal
    case 13:
      // Signaling NaN, or the numbers around the smallest normal one.
      return pick(random, 2) == 0 ? sign | largest << mantissa | (fraction >> 1 | 1)
                                  : sign | ((1ull << mantissa) - 1 + pick(random, 3));
    case 0:
      return sign;
    case 1:
      return sign | largest << mantissa;
    case 2:
      return sign | largest << mantissa | 1ull << (mantissa - 1) | fraction;  // quiet NaN
    case 3:
      return sign | bias << mantissa;
    case 4:
      return sign | (bias + pick(random, static_cast<uint32_t>(std::min<uint64_t>(bias, 40)))) << mantissa;
    case 5:
      return sign | (bias + pick(random, static_cast<uint32_t>(bias))) << mantissa | fraction;
    case 6:
      return sign | (bias - pick(random, static_cast<uint32_t>(bias - 1))) << mantissa | fraction;
    case 7:
      return sign | (bias - 1 + pick(random, 3)) << mantissa | (1ull << (mantissa - 1));
    default:
      return sign | (bias - 4 + pick(random, 9)) << mantissa | fraction;
  }
}

}  // namespace

WaveState random_state(std::mt19937& random, uint32_t lanes, Values values) {
  WaveState state;
  state.lanes = lanes;
  for (auto& row : state.vgprs) row.resize(lanes);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    for (uint32_t n = 0; n < kVgprs; ++n) {
      uint32_t& v = state.vgprs[n][lane];
      switch (values) {
        case Values::bits:
          v = any_bits(random);
          break;
        case Values::f16:
          v = static_cast<uint32_t>(any_float(random, 5, 10) | any_float(random, 5, 10) << 16);
          break;
        case Values::f32:
          v = static_cast<uint32_t>(any_float(random, 8, 23));
          break;
        case Values::f64:
          if (n % 2 == 0) {
            const uint64_t wide = any_float(random, 11, 52);
            v = static_cast<uint32_t>(wide);
            state.vgprs[n + 1][lane] = static_cast<uint32_t>(wide >> 32);
          }
          break;
      }
    }
  }
  for (uint32_t& s : state.sgprs) s = any_bits(random);
  auto mask = [&] { return (uint64_t{random()} << 32) | random(); };
  state.vcc = mask();
  state.exec = pick(random, 4) == 0 ? ~0ull : pick(random, 8) == 0 ? 1ull << pick(random, lanes) : mask();
  if (lanes == 32) state.exec &= 0xffffffff;
  if (lanes == 32) state.vcc &= 0xffffffff;
  state.m0 = any_bits(random);
  state.scc = (random() & 1) != 0;
  return state;
}

std::vector<WaveState> random_states(uint32_t seed, uint32_t count, uint32_t lanes, Values values) {
  std::mt19937 random(seed);
  std::vector<WaveState> states;
  for (uint32_t n = 0; n < count; ++n) states.push_back(random_state(random, lanes, values));
  // Numbers in scalar registers are edge cases too: no lane at all in vcc, all of them.
  states[0].vcc = 0;
  if (count > 1) states[1].vcc = lanes == 32 ? 0xffffffff : ~0ull;
  return states;
}

}  // namespace orrery::shader::semantics::test
