#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tests/gpu-service/shader/semantics/expectation.hpp"

namespace orrery::shader::semantics::test {
namespace {

int32_t as_signed(uint32_t v) { return static_cast<int32_t>(v); }
uint32_t as_unsigned(int64_t v) { return static_cast<uint32_t>(v); }
int32_t signed_24(uint32_t v) { return static_cast<int32_t>(v << 8) >> 8; }
uint32_t clamp_signed(int64_t v) { return as_unsigned(std::clamp<int64_t>(v, INT32_MIN, INT32_MAX)); }

TEST(VectorInteger, arithmetic) {
  check(
      {
          {"v_mov_b32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) { return a; })},
          {"v_add_nc_u32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) { return a + b; })},
          {"v_add_nc_u32_e64 v8, v1, v2 clamp",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return a + b < a ? ~0u : a + b; })},
          {"v_sub_nc_u32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) { return a - b; })},
          {"v_subrev_nc_u32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) { return b - a; })},
          {"v_sub_nc_u32_e64 v8, v1, v2 clamp",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return a < b ? 0 : a - b; })},
          {"v_add_nc_i32 v8, v1, v2 clamp", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return clamp_signed(int64_t{as_signed(a)} + as_signed(b));
           })},
          {"v_sub_nc_i32 v8, v1, v2 clamp", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return clamp_signed(int64_t{as_signed(a)} - as_signed(b));
           })},
          {"v_min_i32 v8, v1, v2",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return as_signed(a) < as_signed(b) ? a : b; })},
          {"v_max_u32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) { return std::max(a, b); })},
          {"v_xnor_b32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) { return ~(a ^ b); })},
          {"v_not_b32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) { return ~a; })},
          {"v_add3_u32 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; })},
          {"v_xad_u32 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; })},
          {"v_lshl_add_u32 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; })},
          {"v_add_lshl_u32 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); })},
          {"v_lshl_or_b32 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) | c; })},
          {"v_and_or_b32 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; })},
          {"v_min3_u32 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return std::min({a, b, c}); })},
          {"v_med3_i32 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             int32_t sorted[] = {as_signed(a), as_signed(b), as_signed(c)};
             std::ranges::sort(sorted);
             return static_cast<uint32_t>(sorted[1]);
           })},
          {"v_mul_lo_u32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) { return a * b; })},
          {"v_mul_hi_u32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return as_unsigned(static_cast<int64_t>(uint64_t{a} * b >> 32));
           })},
          {"v_mul_hi_i32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return as_unsigned(int64_t{as_signed(a)} * as_signed(b) >> 32);
           })},
          {"v_mul_u32_u24 v8, v1, v2",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return (a & 0xffffff) * (b & 0xffffff); })},
          {"v_mul_hi_u32_u24 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return static_cast<uint32_t>(uint64_t{a & 0xffffff} * (b & 0xffffff) >> 32);
           })},
          {"v_mul_hi_i32_i24 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return as_unsigned(int64_t{signed_24(a)} * signed_24(b) >> 32);
           })},
          {"v_mad_i32_i24 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             return as_unsigned(int64_t{signed_24(a)} * signed_24(b)) + c;
           })},
          {"v_mad_u64_u32 v[8:9], {m}, v1, v2, v[4:5]",
           [](WaveState& s) {
             uint64_t mask = 0;
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               const uint64_t product = uint64_t{s.vgprs[1][l]} * s.vgprs[2][l], sum = product + wide(s, 4, l);
               mask |= uint64_t{sum < product} << l;
               set_wide(s, 8, l, sum);
             }
             set_mask(s, 16, mask);
           }},
          {"v_add_co_u32 v8, {m}, v1, v2",
           [](WaveState& s) {
             uint64_t mask = 0;
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               s.vgprs[8][l] = s.vgprs[1][l] + s.vgprs[2][l];
               mask |= uint64_t{s.vgprs[8][l] < s.vgprs[1][l]} << l;
             }
             set_mask(s, 16, mask);
           }},
          {"v_add_co_ci_u32 v8, {vcc}, v1, v2, {vcc}",
           [](WaveState& s) {
             uint64_t mask = 0;
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               const uint64_t sum = uint64_t{s.vgprs[1][l]} + s.vgprs[2][l] + (s.vcc >> l & 1);
               s.vgprs[8][l] = static_cast<uint32_t>(sum);
               mask |= sum >> 32 << l;
             }
             s.vcc = mask;
           }},
          {"v_sub_co_ci_u32_e64 v8, {m}, v1, v2, {vcc}",
           [](WaveState& s) {
             uint64_t mask = 0;
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               const uint64_t sub = uint64_t{s.vgprs[2][l]} + (s.vcc >> l & 1);
               s.vgprs[8][l] = static_cast<uint32_t>(s.vgprs[1][l] - sub);
               mask |= uint64_t{sub > s.vgprs[1][l]} << l;
             }
             set_mask(s, 16, mask);
           }},
      },
      Values::bits);
}

TEST(VectorInteger, bits_and_bytes) {
  auto permuted = [](uint32_t a, uint32_t b, uint32_t selectors) {
    const uint64_t data = uint64_t{a} << 32 | b;
    uint32_t d = 0;
    for (uint32_t n = 0; n < 4; ++n) {
      const uint32_t s = selectors >> (8 * n) & 255;
      uint32_t byte = 0xff;
      if (s < 8)
        byte = static_cast<uint32_t>(data >> (8 * s)) & 255;
      else if (s < 12)
        byte = (data >> (16 * (s - 8) + 15) & 1) != 0 ? 0xff : 0;
      else if (s == 12)
        byte = 0;
      d |= byte << (8 * n);
    }
    return d;
  };
  check(
      {
          {"v_lshlrev_b32 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) { return b << (a & 31); })},
          {"v_ashrrev_i32 v8, v1, v2",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return as_unsigned(as_signed(b) >> (a & 31)); })},
          {"v_lshlrev_b64 v[8:9], v2, v[4:5]",
           each_lane_wide([](uint64_t a, uint64_t b, uint64_t) { return b << (a & 63); })},
          {"v_lshrrev_b64 v[8:9], 5, v[4:5]", each_lane_wide([](uint64_t, uint64_t b, uint64_t) { return b >> 5; })},
          {"v_ashrrev_i64 v[8:9], v2, v[4:5]", each_lane_wide([](uint64_t a, uint64_t b, uint64_t) {
             return static_cast<uint64_t>(static_cast<int64_t>(b) >> (a & 63));
           })},
          {"v_alignbit_b32 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (c & 31));
           })},
          {"v_alignbit_b32 v8, v1, v2, 7", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> 7);
           })},
          {"v_alignbyte_b32 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             return static_cast<uint32_t>((uint64_t{a} << 32 | b) >> (8 * (c & 3)));
           })},
          {"v_bfe_u32 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return a >> (b & 31) & ((1u << (c & 31)) - 1); })},
          {"v_bfe_u32 v8, v1, 24, 16", each_lane([](uint32_t a, uint32_t, uint32_t) { return a >> 24; })},
          {"v_bfe_i32 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             const uint32_t width = c & 31;
             if (width == 0) return 0u;
             const int32_t shifted = as_signed(a) >> (b & 31);
             return as_unsigned(as_signed(static_cast<uint32_t>(shifted) << (32 - width)) >> (32 - width));
           })},
          {"v_bfe_i32 v8, v1, 3, 5",
           each_lane([](uint32_t a, uint32_t, uint32_t) { return as_unsigned(as_signed(a << 24) >> 27); })},
          {"v_bfi_b32 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); })},
          {"v_bfm_b32 v8, v1, v2",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return ((1u << (a & 31)) - 1) << (b & 31); })},
          {"v_ffbh_u32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             return a == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(a));
           })},
          {"v_ffbh_i32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             const uint32_t x = as_signed(a) < 0 ? ~a : a;
             return x == 0 ? ~0u : static_cast<uint32_t>(std::countl_zero(x));
           })},
          {"v_ffbl_b32 v8, v1", each_lane([](uint32_t a, uint32_t, uint32_t) {
             return a == 0 ? ~0u : static_cast<uint32_t>(std::countr_zero(a));
           })},
          {"v_bcnt_u32_b32 v8, v1, v2",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return static_cast<uint32_t>(std::popcount(a)) + b; })},
          {"v_perm_b32 v8, v1, v2, v3", each_lane(permuted)},
          {"v_perm_b32 v8, v1, v2, s1",
           [=](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l)) s.vgprs[8][l] = permuted(s.vgprs[1][l], s.vgprs[2][l], s.sgprs[1]);
             }
           }},
          {"v_perm_b32 v8, v1, v2, 0x0d0c0b04",
           each_lane([=](uint32_t a, uint32_t b, uint32_t) { return permuted(a, b, 0x0d0c0b04); })},
          {"v_sad_u8 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             for (uint32_t n = 0; n < 32; n += 8)
               c += static_cast<uint32_t>(std::abs(int(a >> n & 255) - int(b >> n & 255)));
             return c;
           })},
          {"v_sad_u32 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a > b ? a - b : b - a) + c; })},
          {"v_lerp_u8 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             uint32_t d = 0;
             for (uint32_t n = 0; n < 32; n += 8) d |= (((a >> n & 255) + (b >> n & 255) + (c >> n & 1)) >> 1) << n;
             return d;
           })},
          {"v_add_nc_u32_sdwa v8, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_1",
           each_lane([](uint32_t a, uint32_t b, uint32_t) { return as_unsigned(as_signed(a) >> 24) + (b >> 16); })},
          {"v_add_nc_u32_sdwa v8, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (!lane_on(s.exec, l)) continue;
               const uint32_t d = (s.vgprs[1][l] + s.vgprs[2][l]) & 255;
               s.vgprs[8][l] = (s.vgprs[8][l] & 0xffff00ff) | d << 8;
             }
           }},
      },
      Values::bits);
}

TEST(VectorInteger, short_integers) {
  auto half = [](auto f) {
    return [f](WaveState& s) {
      for (uint32_t l = 0; l < s.lanes; ++l) {
        if (!lane_on(s.exec, l)) continue;
        const auto d =
            static_cast<uint16_t>(f(static_cast<uint16_t>(s.vgprs[1][l]), static_cast<uint16_t>(s.vgprs[2][l])));
        s.vgprs[8][l] = (s.vgprs[8][l] & 0xffff0000) | d;
      }
    };
  };
  check(
      {
          {"v_add_nc_u16 v8, v1, v2", half([](uint16_t a, uint16_t b) { return a + b; })},
          {"v_add_nc_u16 v8, v1, v2 clamp", half([](uint16_t a, uint16_t b) { return std::min(a + b, 65535); })},
          {"v_sub_nc_i16 v8, v1, v2 clamp",
           half([](uint16_t a, uint16_t b) { return std::clamp(int16_t(a) - int16_t(b), -32768, 32767); })},
          {"v_mul_lo_u16 v8, v1, v2", half([](uint16_t a, uint16_t b) { return uint32_t{a} * b; })},
          {"v_max_i16 v8, v1, v2", half([](uint16_t a, uint16_t b) { return std::max(int16_t(a), int16_t(b)); })},
          {"v_lshlrev_b16 v8, v1, v2", half([](uint16_t a, uint16_t b) { return b << (a & 15); })},
          {"v_ashrrev_i16 v8, v1, v2", half([](uint16_t a, uint16_t b) { return int16_t(b) >> (a & 15); })},
          {"v_pk_add_u16 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16;
           })},
          {"v_pk_add_u16 v8, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return (((a >> 16) + b) & 0xffff) | (a + (b >> 16)) << 16;
           })},
          {"v_pk_lshlrev_b16 v8, v1, v2", each_lane([](uint32_t a, uint32_t b, uint32_t) {
             return (b << (a & 15) & 0xffff) | (b >> 16) << (a >> 16 & 15) << 16;
           })},
          {"v_pk_mad_i16 v8, v1, v2, v3", each_lane([](uint32_t a, uint32_t b, uint32_t c) {
             return ((a * b + c) & 0xffff) | ((a >> 16) * (b >> 16) + (c >> 16)) << 16;
           })},
          {"v_mad_u32_u16 v8, v1, v2, v3",
           each_lane([](uint32_t a, uint32_t b, uint32_t c) { return (a & 0xffff) * (b & 0xffff) + c; })},
      },
      Values::bits);
}

TEST(VectorInteger, compares_write_zero_for_lanes_that_are_off) {
  check(
      {
          {"v_cmp_lt_i32 {m}, v1, v2",
           compare_lanes([](uint32_t a, uint32_t b) { return as_signed(a) < as_signed(b); })},
          {"v_cmp_gt_u32 {m}, v1, v2", compare_lanes([](uint32_t a, uint32_t b) { return a > b; })},
          {"v_cmp_ne_u32 {m}, v1, v2", compare_lanes([](uint32_t a, uint32_t b) { return a != b; })},
          {"v_cmp_t_u32 {m}, v1, v2", compare_lanes([](uint32_t, uint32_t) { return true; })},
          {"v_cmp_f_i32 {m}, v1, v2", compare_lanes([](uint32_t, uint32_t) { return false; })},
          {"v_cmp_le_u16 {m}, v1, v2",
           compare_lanes([](uint32_t a, uint32_t b) { return uint16_t(a) <= uint16_t(b); })},
          {"v_cmp_ge_i16 {m}, v1, v2", compare_lanes([](uint32_t a, uint32_t b) { return int16_t(a) >= int16_t(b); })},
          {"v_cmp_lt_u64 {m}, v[2:3], v[4:5]",
           [](WaveState& s) {
             uint64_t mask = 0;
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l) && wide(s, 2, l) < wide(s, 4, l)) mask |= 1ull << l;
             }
             set_mask(s, 16, mask);
           }},
          {"v_cmpx_gt_u32 v1, v2",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (s.vgprs[1][l] <= s.vgprs[2][l]) s.exec &= ~(1ull << l);
             }
           }},
      },
      Values::bits);
}

TEST(VectorInteger, lanes) {
  auto first = [](const WaveState& s) { return s.exec == 0 ? 0u : static_cast<uint32_t>(std::countr_zero(s.exec)); };
  check(
      {
          {"v_cndmask_b32 v8, v1, v2, {vcc}",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l)) s.vgprs[8][l] = lane_on(s.vcc, l) ? s.vgprs[2][l] : s.vgprs[1][l];
             }
           }},
          {"v_cndmask_b32 v8, -v1, |v2|, {vcc}",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l))
                 s.vgprs[8][l] = lane_on(s.vcc, l) ? s.vgprs[2][l] & 0x7fffffff : s.vgprs[1][l] ^ 0x80000000;
             }
           }},
          {"v_readlane_b32 s16, v1, s2", [](WaveState& s) { s.sgprs[16] = s.vgprs[1][s.sgprs[2] & (s.lanes - 1)]; }},
          {"v_readlane_b32 s16, v1, 29", [](WaveState& s) { s.sgprs[16] = s.vgprs[1][29]; }},
          {"v_readfirstlane_b32 s16, v1", [=](WaveState& s) { s.sgprs[16] = s.vgprs[1][first(s)]; }},
          {"v_writelane_b32 v8, s1, s2", [](WaveState& s) { s.vgprs[8][s.sgprs[2] & (s.lanes - 1)] = s.sgprs[1]; }},
          {"v_mbcnt_lo_u32_b32 v8, -1, v1",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l)) s.vgprs[8][l] = std::min(l, 32u) + s.vgprs[1][l];
             }
           }},
          {"v_mbcnt_hi_u32_b32 v8, -1, v1",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l)) s.vgprs[8][l] = (l > 32 ? l - 32 : 0) + s.vgprs[1][l];
             }
           }},
          {"v_mbcnt_lo_u32_b32 v8, vcc_lo, v1",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               const uint64_t below = (1ull << std::min(l, 32u)) - 1;
               if (lane_on(s.exec, l))
                 s.vgprs[8][l] = static_cast<uint32_t>(std::popcount(s.vcc & below)) + s.vgprs[1][l];
             }
           }},
          {"v_mbcnt_hi_u32_b32 v8, vcc_hi, v1",
           [](WaveState& s) {
             for (uint32_t l = 0; l < s.lanes; ++l) {
               const uint64_t below = l > 32 ? (1ull << (l - 32)) - 1 : 0;
               if (lane_on(s.exec, l))
                 s.vgprs[8][l] = static_cast<uint32_t>(std::popcount(s.vcc >> 32 & below)) + s.vgprs[1][l];
             }
           }},
          {"v_mov_b32_dpp v8, v1 row_shr:1 row_mask:0xf bank_mask:0xf",
           [](WaveState& s) {
             const auto old = s.vgprs[1];
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l) && l % 16 != 0 && lane_on(s.exec, l - 1)) s.vgprs[8][l] = old[l - 1];
             }
           }},
          {"v_mov_b32_dpp v8, v1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:1",
           [](WaveState& s) {
             const auto old = s.vgprs[1];
             for (uint32_t l = 0; l < s.lanes; ++l) {
               if (lane_on(s.exec, l)) s.vgprs[8][l] = lane_on(s.exec, l ^ 3) ? old[l ^ 3] : 0;
             }
           }},
      },
      Values::bits, 24);
}

}  // namespace
}  // namespace orrery::shader::semantics::test
