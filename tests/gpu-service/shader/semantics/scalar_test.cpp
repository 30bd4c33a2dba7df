#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tests/gpu-service/shader/semantics/expectation.hpp"

namespace orrery::shader::semantics::test {
namespace {

int32_t as_signed(uint32_t v) { return static_cast<int32_t>(v); }
int64_t as_signed(uint64_t v) { return static_cast<int64_t>(v); }

template <class F>
auto non_zero(F f) {
  return scalar([f](uint32_t x, uint32_t y, bool& scc) {
    const auto d = static_cast<uint32_t>(f(x, y));
    scc = d != 0;
    return d;
  });
}
template <class F>
auto non_zero_wide(F f) {
  return scalar_wide([f](uint64_t x, uint64_t y, bool& scc) {
    const auto d = static_cast<uint64_t>(f(x, y));
    scc = d != 0;
    return d;
  });
}

TEST(Scalar, arithmetic_sets_carry_and_overflow) {
  check(
      {
          {"s_add_u32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             c = uint64_t{x} + y > 0xffffffff;
             return x + y;
           })},
          {"s_sub_u32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             c = x < y;
             return x - y;
           })},
          {"s_addc_u32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             const uint64_t d = uint64_t{x} + y + c;
             c = d > 0xffffffff;
             return static_cast<uint32_t>(d);
           })},
          {"s_subb_u32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             const bool in = c;
             c = uint64_t{y} + in > x;
             return x - y - in;
           })},
          {"s_add_i32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             const int64_t d = int64_t{as_signed(x)} + as_signed(y);
             c = d != as_signed(static_cast<uint32_t>(d));
             return static_cast<uint32_t>(d);
           })},
          {"s_sub_i32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             const int64_t d = int64_t{as_signed(x)} - as_signed(y);
             c = d != as_signed(static_cast<uint32_t>(d));
             return static_cast<uint32_t>(d);
           })},
          {"s_addk_i32 s16, 0x8001",
           [](WaveState& s) {
             const int64_t d = int64_t{as_signed(s.sgprs[16])} - 0x7fff;
             s.scc = d != as_signed(static_cast<uint32_t>(d));
             s.sgprs[16] = static_cast<uint32_t>(d);
           }},
          {"s_mulk_i32 s16, 0xfffd", [](WaveState& s) { s.sgprs[16] *= static_cast<uint32_t>(-3); }},
          {"s_min_i32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             c = as_signed(x) < as_signed(y);
             return c ? x : y;
           })},
          {"s_max_i32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             c = as_signed(x) > as_signed(y);
             return c ? x : y;
           })},
          {"s_min_u32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             c = x < y;
             return c ? x : y;
           })},
          {"s_max_u32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             c = x > y;
             return c ? x : y;
           })},
          {"s_mul_i32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool&) { return x * y; })},
          {"s_mul_hi_u32 s16, s1, s2",
           scalar([](uint32_t x, uint32_t y, bool&) { return static_cast<uint32_t>(uint64_t{x} * y >> 32); })},
          {"s_mul_hi_i32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool&) {
             return static_cast<uint32_t>(int64_t{as_signed(x)} * as_signed(y) >> 32);
           })},
          {"s_lshl3_add_u32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) {
             const uint64_t d = (uint64_t{x} << 3) + y;
             c = d > 0xffffffff;
             return static_cast<uint32_t>(d);
           })},
          {"s_abs_i32 s16, s1", non_zero([](uint32_t x, uint32_t) { return as_signed(x) < 0 ? 0 - x : x; })},
          {"s_absdiff_i32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) {
             const uint32_t d = x - y;
             return as_signed(d) < 0 ? 0 - d : d;
           })},
      },
      Values::bits, 40);
}

TEST(Scalar, bits) {
  auto field = [](auto x, uint32_t offset, uint32_t width, uint32_t bits) {
    using T = decltype(x);
    x = static_cast<T>(x >> offset);
    if (width == 0) return T{0};
    if (width >= bits) return x;
    const uint32_t unused = bits - width;
    return static_cast<T>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << unused) >> unused);
  };
  check(
      {
          {"s_lshl_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return x << (y & 31); })},
          {"s_lshr_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return x >> (y & 31); })},
          {"s_ashr_i32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return as_signed(x) >> (y & 31); })},
          {"s_lshl_b64 s[16:17], s[2:3], s4", non_zero_wide([](uint64_t x, uint64_t y) { return x << (y & 63); })},
          {"s_lshr_b64 s[16:17], s[2:3], s4", non_zero_wide([](uint64_t x, uint64_t y) { return x >> (y & 63); })},
          {"s_ashr_i64 s[16:17], s[2:3], s4",
           non_zero_wide([](uint64_t x, uint64_t y) { return as_signed(x) >> (y & 63); })},
          {"s_bfe_u32 s16, s1, s2",
           non_zero([=](uint32_t x, uint32_t y) { return field(x, y & 31, y >> 16 & 127, 32); })},
          {"s_bfe_i32 s16, s1, s2",
           non_zero([=](uint32_t x, uint32_t y) { return field(as_signed(x), y & 31, y >> 16 & 127, 32); })},
          {"s_bfe_u64 s[16:17], s[2:3], s4",
           non_zero_wide([=](uint64_t x, uint64_t y) { return field(x, y & 63, y >> 16 & 127, 64); })},
          {"s_bfe_i64 s[16:17], s[2:3], s4",
           non_zero_wide([=](uint64_t x, uint64_t y) { return field(as_signed(x), y & 63, y >> 16 & 127, 64); })},
          {"s_bfm_b32 s16, s1, s2",
           scalar([](uint32_t x, uint32_t y, bool&) { return ((1u << (x & 31)) - 1) << (y & 31); })},
          {"s_bfm_b64 s[16:17], s2, s4",
           scalar_wide([](uint64_t x, uint64_t y, bool&) { return ((1ull << (x & 63)) - 1) << (y & 63); })},
          {"s_bcnt1_i32_b32 s16, s1", non_zero([](uint32_t x, uint32_t) { return std::popcount(x); })},
          {"s_bcnt0_i32_b32 s16, s1", non_zero([](uint32_t x, uint32_t) { return std::popcount(~x); })},
          {"s_bcnt1_i32_b64 s16, s[2:3]",
           [](WaveState& s) {
             s.sgprs[16] = static_cast<uint32_t>(std::popcount(s.sgprs[2]) + std::popcount(s.sgprs[3]));
             s.scc = s.sgprs[16] != 0;
           }},
          {"s_ff1_i32_b32 s16, s1", scalar([](uint32_t x, uint32_t, bool&) {
             return x == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(x));
           })},
          {"s_ff0_i32_b32 s16, s1", scalar([](uint32_t x, uint32_t, bool&) {
             return ~x == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(~x));
           })},
          {"s_ff1_i32_b64 s16, s[2:3]",
           [](WaveState& s) {
             const uint64_t x = s.sgprs[2] | uint64_t{s.sgprs[3]} << 32;
             s.sgprs[16] = x == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(x));
           }},
          {"s_flbit_i32_b32 s16, s1", scalar([](uint32_t x, uint32_t, bool&) {
             return x == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(x));
           })},
          {"s_flbit_i32_b64 s16, s[2:3]",
           [](WaveState& s) {
             const uint64_t x = s.sgprs[2] | uint64_t{s.sgprs[3]} << 32;
             s.sgprs[16] = x == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(x));
           }},
          {"s_flbit_i32 s16, s1", scalar([](uint32_t x, uint32_t, bool&) {
             const uint32_t y = as_signed(x) < 0 ? ~x : x;
             return y == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(y));
           })},
          {"s_brev_b32 s16, s1", scalar([](uint32_t x, uint32_t, bool&) {
             uint32_t d = 0;
             for (uint32_t n = 0; n < 32; ++n) d |= (x >> n & 1) << (31 - n);
             return d;
           })},
          {"s_brev_b64 s[16:17], s[2:3]", scalar_wide([](uint64_t x, uint64_t, bool&) {
             uint64_t d = 0;
             for (uint32_t n = 0; n < 64; ++n) d |= (x >> n & 1) << (63 - n);
             return d;
           })},
          {"s_sext_i32_i8 s16, s1",
           scalar([](uint32_t x, uint32_t, bool&) { return static_cast<uint32_t>(static_cast<int8_t>(x)); })},
          {"s_sext_i32_i16 s16, s1",
           scalar([](uint32_t x, uint32_t, bool&) { return static_cast<uint32_t>(static_cast<int16_t>(x)); })},
          {"s_bitset0_b32 s16, s1", [](WaveState& s) { s.sgprs[16] &= ~(1u << (s.sgprs[1] & 31)); }},
          {"s_bitset1_b64 s[16:17], s2",
           [](WaveState& s) {
             const uint32_t n = s.sgprs[2] & 63;
             s.sgprs[16 + n / 32] |= 1u << (n % 32);
           }},
          {"s_bitreplicate_b64_b32 s[16:17], s2", scalar_wide([](uint64_t x, uint64_t, bool&) {
             uint64_t d = 0;
             for (uint32_t n = 0; n < 32; ++n) d |= (x >> n & 1) * 3 << (2 * n);
             return d;
           })},
          {"s_pack_ll_b32_b16 s16, s1, s2",
           scalar([](uint32_t x, uint32_t y, bool&) { return (x & 0xffff) | y << 16; })},
          {"s_pack_lh_b32_b16 s16, s1, s2",
           scalar([](uint32_t x, uint32_t y, bool&) { return (x & 0xffff) | (y & 0xffff0000); })},
          {"s_pack_hh_b32_b16 s16, s1, s2",
           scalar([](uint32_t x, uint32_t y, bool&) { return x >> 16 | (y & 0xffff0000); })},
          {"s_wqm_b32 s16, s1", non_zero([](uint32_t x, uint32_t) {
             uint32_t d = 0;
             for (uint32_t n = 0; n < 32; n += 4) d |= (x >> n & 15) != 0 ? 15u << n : 0;
             return d;
           })},
          {"s_quadmask_b64 s[16:17], s[2:3]", non_zero_wide([](uint64_t x, uint64_t) {
             uint64_t d = 0;
             for (uint32_t n = 0; n < 16; ++n) d |= (x >> (4 * n) & 15) != 0 ? 1ull << n : 0;
             return d;
           })},
          {"s_quadmask_b32 s16, s1", non_zero([](uint32_t x, uint32_t) {
             uint32_t d = 0;
             for (uint32_t n = 0; n < 8; ++n) d |= (x >> (4 * n) & 15) != 0 ? 1u << n : 0;
             return d;
           })},
      },
      Values::bits, 40);
}

TEST(Scalar, logic_on_numbers) {
  check(
      {
          {"s_and_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return x & y; })},
          {"s_or_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return x | y; })},
          {"s_xor_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return x ^ y; })},
          {"s_andn2_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return x & ~y; })},
          {"s_orn2_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return x | ~y; })},
          {"s_nand_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return ~(x & y); })},
          {"s_nor_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return ~(x | y); })},
          {"s_xnor_b32 s16, s1, s2", non_zero([](uint32_t x, uint32_t y) { return ~(x ^ y); })},
          {"s_not_b32 s16, s1", non_zero([](uint32_t x, uint32_t) { return ~x; })},
          {"s_and_b64 s[16:17], s[2:3], s[4:5]", non_zero_wide([](uint64_t x, uint64_t y) { return x & y; })},
          {"s_or_b64 s[16:17], s[2:3], s[4:5]", non_zero_wide([](uint64_t x, uint64_t y) { return x | y; })},
          {"s_xor_b64 s[16:17], s[2:3], s[2:3]", non_zero_wide([](uint64_t, uint64_t) { return 0; })},
          {"s_andn2_b64 s[16:17], s[2:3], s[4:5]", non_zero_wide([](uint64_t x, uint64_t y) { return x & ~y; })},
          {"s_not_b64 s[16:17], s[2:3]", non_zero_wide([](uint64_t x, uint64_t) { return ~x; })},
          {"s_mov_b32 s16, 0x12345678", scalar([](uint32_t, uint32_t, bool&) { return 0x12345678u; })},
          {"s_mov_b64 s[16:17], s[2:3]", scalar_wide([](uint64_t x, uint64_t, bool&) { return x; })},
          {"s_mov_b64 s[16:17], -1", scalar_wide([](uint64_t, uint64_t, bool&) { return ~0ull; })},
          {"s_movk_i32 s16, 0xfffe", scalar([](uint32_t, uint32_t, bool&) { return 0xfffffffeu; })},
          {"s_cselect_b32 s16, s1, s2", scalar([](uint32_t x, uint32_t y, bool& c) { return c ? x : y; })},
          {"s_cselect_b64 s[16:17], s[2:3], s[4:5]",
           scalar_wide([](uint64_t x, uint64_t y, bool& c) { return c ? x : y; })},
          {"s_cmov_b32 s16, s1", [](WaveState& s) { s.sgprs[16] = s.scc ? s.sgprs[1] : s.sgprs[16]; }},
          {"s_cmovk_i32 s16, 0x7fff", [](WaveState& s) { s.sgprs[16] = s.scc ? 0x7fff : s.sgprs[16]; }},
          {"s_mov_b32 m0, s1", [](WaveState& s) { s.m0 = s.sgprs[1]; }},
      },
      Values::bits, 40);
}

// Masks written as masks and read as numbers, and the other way round.
TEST(Scalar, logic_on_masks) {
  auto mask_of = [](const WaveState& s, uint32_t sgpr) {
    return s.lanes == 32 ? s.sgprs[sgpr] : s.sgprs[sgpr] | uint64_t{s.sgprs[sgpr + 1]} << 32;
  };
  check(
      {
          {"s_mov_b32 exec_lo, s2", [](WaveState& s) { s.exec = (s.exec & ~0xffffffffull) | s.sgprs[2]; }},
          {"s_mov_b32 s16, vcc_lo", [](WaveState& s) { s.sgprs[16] = static_cast<uint32_t>(s.vcc); }},
          {"s_cmp_eq_u32 vcc_lo, 0", [](WaveState& s) { s.scc = static_cast<uint32_t>(s.vcc) == 0; }},
          {"s_and_b32 s16, vcc_lo, exec_lo",
           [](WaveState& s) {
             s.sgprs[16] = static_cast<uint32_t>(s.vcc & s.exec);
             s.scc = s.sgprs[16] != 0;
           }},
          {"s_bcnt1_i32_b32 s16, exec_lo",
           [](WaveState& s) {
             s.sgprs[16] = static_cast<uint32_t>(std::popcount(static_cast<uint32_t>(s.exec)));
             s.scc = s.sgprs[16] != 0;
           }},
      },
      Values::bits, 40);
  (void)mask_of;
}

TEST(Scalar, compares) {
  auto scc = [](auto f) { return [f](WaveState& s) { s.scc = f(s.sgprs[1], s.sgprs[2]); }; };
  auto scc_wide = [](auto f) {
    return [f](WaveState& s) {
      s.scc = f(s.sgprs[2] | uint64_t{s.sgprs[3]} << 32, s.sgprs[4] | uint64_t{s.sgprs[5]} << 32);
    };
  };
  check(
      {
          {"s_cmp_eq_i32 s1, s2", scc([](uint32_t x, uint32_t y) { return x == y; })},
          {"s_cmp_lg_u32 s1, s2", scc([](uint32_t x, uint32_t y) { return x != y; })},
          {"s_cmp_lg_u32 s1, 0", scc([](uint32_t x, uint32_t) { return x != 0; })},
          {"s_cmp_gt_i32 s1, s2", scc([](uint32_t x, uint32_t y) { return as_signed(x) > as_signed(y); })},
          {"s_cmp_ge_i32 s1, s2", scc([](uint32_t x, uint32_t y) { return as_signed(x) >= as_signed(y); })},
          {"s_cmp_lt_i32 s1, s2", scc([](uint32_t x, uint32_t y) { return as_signed(x) < as_signed(y); })},
          {"s_cmp_le_i32 s1, s2", scc([](uint32_t x, uint32_t y) { return as_signed(x) <= as_signed(y); })},
          {"s_cmp_gt_u32 s1, s2", scc([](uint32_t x, uint32_t y) { return x > y; })},
          {"s_cmp_ge_u32 s1, s2", scc([](uint32_t x, uint32_t y) { return x >= y; })},
          {"s_cmp_lt_u32 s1, s2", scc([](uint32_t x, uint32_t y) { return x < y; })},
          {"s_cmp_le_u32 s1, s2", scc([](uint32_t x, uint32_t y) { return x <= y; })},
          {"s_cmp_eq_u64 s[2:3], s[4:5]", scc_wide([](uint64_t x, uint64_t y) { return x == y; })},
          {"s_cmp_lg_u64 s[2:3], 0", scc_wide([](uint64_t x, uint64_t) { return x != 0; })},
          {"s_cmpk_eq_i32 s1, 0xffff", scc([](uint32_t x, uint32_t) { return x == 0xffffffff; })},
          {"s_cmpk_gt_u32 s1, 0x7fff", scc([](uint32_t x, uint32_t) { return x > 0x7fff; })},
          {"s_cmpk_lt_i32 s1, 0x8000", scc([](uint32_t x, uint32_t) { return as_signed(x) < -0x8000; })},
          {"s_cmpk_ge_u32 s1, 0xffff", scc([](uint32_t x, uint32_t) { return x >= 0xffff; })},
          {"s_bitcmp0_b32 s1, s2", scc([](uint32_t x, uint32_t y) { return (x >> (y & 31) & 1) == 0; })},
          {"s_bitcmp1_b64 s[2:3], s4", scc_wide([](uint64_t x, uint64_t y) { return (x >> (y & 63) & 1) != 0; })},
      },
      Values::bits, 40);
}

}  // namespace
}  // namespace orrery::shader::semantics::test
