#include <gtest/gtest.h>
#include <bit>
#include <random>

#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::shader::testing {
namespace {

// Random values with the awkward ones among them.
Values awkward(uint32_t seed, uint32_t wave = 32) {
  std::mt19937 random(seed);
  constexpr uint32_t kSpecial[] = {0,          1,          31,         32,     33,      63,         64,
                                   0x7fffffff, 0x80000000, 0xffffffff, 0xffff, 0x10000, 0x80808080, 0x00ff00ff};
  return each_lane(wave, [&](uint32_t lane) {
    return lane % 3 == 0 ? kSpecial[(lane / 3 + seed) % std::size(kSpecial)] : random();
  });
}

// Runs an instruction of v1..v3 into v10 and compares every lane.
void check(const std::string& text, const std::function<uint32_t(uint32_t, uint32_t, uint32_t)>& expected) {
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    Snippet snippet;
    snippet.vgprs = {awkward(seed), awkward(seed + 10), awkward(seed + 20), {}};
    const Result result = run_snippet(text, snippet);
    ASSERT_FALSE(result.outcome.refusal) << text << ": " << result.outcome.refusal->reason;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t a = snippet.vgprs[0][lane], b = snippet.vgprs[1][lane], c = snippet.vgprs[2][lane];
      ASSERT_EQ(result.vgprs[0][lane], expected(a, b, c)) << text << std::hex << " of " << a << ", " << b << ", " << c;
    }
  }
}

uint32_t byte(uint64_t value, unsigned index) { return static_cast<uint32_t>(value >> (8 * index)) & 255; }

TEST(InterpretedIntegers, shift_counts_wrap_at_the_width) {
  check("v_lshlrev_b32 v10, v1, v2", [](auto a, auto b, auto) { return b << (a % 32); });
  check("v_lshrrev_b32 v10, v1, v2", [](auto a, auto b, auto) { return b >> (a % 32); });
  check("v_ashrrev_i32 v10, v1, v2",
        [](auto a, auto b, auto) { return static_cast<uint32_t>(static_cast<int32_t>(b) >> (a % 32)); });
  check("v_lshl_add_u32 v10, v1, v2, v3", [](auto a, auto b, auto c) { return (a << (b % 32)) + c; });
  check("v_mov_b32 v5, v2\nv_mov_b32 v6, v3\nv_lshrrev_b64 v[10:11], v1, v[5:6]",
        [](auto a, auto b, auto c) { return static_cast<uint32_t>((uint64_t{c} << 32 | b) >> (a % 64)); });
}

TEST(InterpretedIntegers, alignbit_takes_32_bits_out_of_64) {
  check("v_alignbit_b32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    const uint32_t n = c % 32;
    return n == 0 ? b : b >> n | a << (32 - n);
  });
  check("v_alignbyte_b32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    const uint32_t n = c % 4 * 8;
    return n == 0 ? b : b >> n | a << (32 - n);
  });
}

TEST(InterpretedIntegers, perm_chooses_bytes_signs_and_constants) {
  check("v_perm_b32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const uint32_t s = byte(c, i);
      uint32_t value = 0;
      if (s < 4)
        value = byte(b, s);
      else if (s < 8)
        value = byte(a, s - 4);
      else if (s == 8)
        value = byte(b, 1) & 128 ? 255 : 0;
      else if (s == 9)
        value = byte(b, 3) & 128 ? 255 : 0;
      else if (s == 10)
        value = byte(a, 1) & 128 ? 255 : 0;
      else if (s == 11)
        value = byte(a, 3) & 128 ? 255 : 0;
      else
        value = s == 12 ? 0 : 255;
      result |= value << (8 * i);
    }
    return result;
  });
}

TEST(InterpretedIntegers, products_have_the_right_half) {
  check("v_mul_hi_u32 v10, v1, v2",
        [](auto a, auto b, auto) { return static_cast<uint32_t>((static_cast<unsigned __int128>(a) * b) >> 32); });
  check("v_mul_hi_i32 v10, v1, v2", [](auto a, auto b, auto) {
    return static_cast<uint32_t>((static_cast<__int128>(static_cast<int32_t>(a)) * static_cast<int32_t>(b)) >> 32);
  });
  check("v_mul_hi_i32_i24 v10, v1, v2", [](auto a, auto b, auto) {
    const auto narrow = [](uint32_t x) {
      return (x & 0x800000) != 0 ? static_cast<int64_t>(x & 0xffffff) - 0x1000000 : static_cast<int64_t>(x & 0xffffff);
    };
    return static_cast<uint32_t>((narrow(a) * narrow(b)) >> 32);
  });
  check("v_mad_u64_u32 v[10:11], vcc_lo, v1, v2, 1\nv_mov_b32 v10, v11",
        [](auto a, auto b, auto) { return static_cast<uint32_t>((uint64_t{a} * b + 1) >> 32); });
}

TEST(InterpretedIntegers, bit_fields_of_any_place_and_width) {
  check("v_bfe_u32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < c % 32; ++i) {
      const uint32_t from = b % 32 + i;
      result |= (from < 32 ? a >> from & 1 : 0) << i;
    }
    return result;
  });
  check("v_bfe_i32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    const uint32_t width = c % 32, offset = b % 32;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      const uint32_t from = std::min(offset + std::min(i, width == 0 ? 0 : width - 1), 31u);
      result |= (width == 0 ? 0 : a >> from & 1) << i;
    }
    return result;
  });
  check("v_bfi_b32 v10, v1, v2, v3", [](auto a, auto b, auto c) { return ((b ^ c) & a) ^ c; });
}

TEST(InterpretedIntegers, first_bits_and_counts) {
  const auto highest = [](uint32_t a) {
    for (uint32_t i = 0; i < 32; ++i) {
      if ((a >> (31 - i) & 1) != 0) return i;
    }
    return ~0u;
  };
  check("v_ffbh_u32 v10, v1", [&](auto a, auto, auto) { return highest(a); });
  check("v_ffbh_i32 v10, v1", [&](auto a, auto, auto) { return highest((a >> 31) != 0 ? ~a : a); });
  check("v_ffbl_b32 v10, v1", [](auto a, auto, auto) {
    for (uint32_t i = 0; i < 32; ++i) {
      if ((a >> i & 1) != 0) return i;
    }
    return ~0u;
  });
  check("v_bcnt_u32_b32 v10, v1, v2", [](auto a, auto b, auto) {
    for (; a != 0; a &= a - 1) ++b;
    return b;
  });
  check("v_bfrev_b32 v10, v1", [](auto a, auto, auto) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; ++i) result = result << 1 | (a >> i & 1);
    return result;
  });
}

TEST(InterpretedIntegers, medians_and_saturation) {
  check("v_med3_i32 v10, v1, v2, v3", [](auto a, auto b, auto c) {
    std::array<int32_t, 3> sorted{static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(c)};
    std::sort(sorted.begin(), sorted.end());
    return static_cast<uint32_t>(sorted[1]);
  });
  check("v_add_nc_u32 v10, v1, v2 clamp", [](auto a, auto b, auto) { return a > ~b ? ~0u : a + b; });
  check("v_sub_nc_u32 v10, v1, v2 clamp", [](auto a, auto b, auto) { return a < b ? 0 : a - b; });
  check("v_add_nc_i32 v10, v1, v2 clamp", [](auto a, auto b, auto) {
    const int64_t sum = int64_t{static_cast<int32_t>(a)} + static_cast<int32_t>(b);
    return static_cast<uint32_t>(std::max<int64_t>(std::min<int64_t>(sum, 0x7fffffff), -0x80000000ll));
  });
}

TEST(InterpretedIntegers, carries_chain_through_vcc_and_sgprs) {
  check("v_add_co_u32 v5, s20, v1, v2\nv_add_co_ci_u32 v10, s20, v1, v3, s20", [](auto a, auto b, auto c) {
    return static_cast<uint32_t>(((uint64_t{a} << 32 | a) + (uint64_t{c} << 32 | b)) >> 32);
  });
  check("v_sub_co_u32 v5, vcc_lo, v1, v2\nv_sub_co_ci_u32 v10, vcc_lo, v1, v3, vcc_lo", [](auto a, auto b, auto c) {
    return static_cast<uint32_t>(((uint64_t{a} << 32 | a) - (uint64_t{c} << 32 | b)) >> 32);
  });
}

TEST(InterpretedIntegers, conditional_mask_takes_neg_and_abs_on_the_sign_bit) {
  check("v_cmp_lt_i32 vcc_lo, v3, v2\nv_cndmask_b32 v10, -v1, |v2|, vcc_lo", [](auto a, auto b, auto c) {
    return static_cast<int32_t>(c) < static_cast<int32_t>(b) ? b & 0x7fffffff : a ^ 0x80000000;
  });
}

TEST(InterpretedIntegers, sdwa_selects_extends_and_keeps) {
  check("v_add_nc_u32_sdwa v10, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1",
        [](auto a, auto b, auto) { return static_cast<uint32_t>(static_cast<int8_t>(a >> 16)) + (b >> 16); });
  check("v_mov_b32 v10, v3\nv_mov_b32_sdwa v10, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3",
        [](auto a, auto, auto c) { return (c & 0xffff00ff) | a >> 24 << 8; });
  check("v_mov_b32_sdwa v10, v1 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_1",
        [](auto a, auto, auto) { return static_cast<uint32_t>(static_cast<int16_t>(a >> 16)); });
}

TEST(InterpretedIntegers, halves_keep_the_other_half) {
  check("v_mov_b32 v10, v3\nv_add_nc_u16 v10, v1, v2 op_sel:[1,0,1]",
        [](auto a, auto b, auto c) { return (c & 0xffff) | ((a >> 16) + b) << 16; });
  check("v_pk_mad_u16 v10, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[0,1,1]", [](auto a, auto b, auto c) {
    const uint32_t low = (a >> 16) * (b & 0xffff) + (c & 0xffff), high = (a & 0xffff) * (b >> 16) + (c >> 16);
    return (low & 0xffff) | high << 16;
  });
}

}  // namespace
}  // namespace orrery::shader::testing
