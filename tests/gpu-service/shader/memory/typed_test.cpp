// Typed buffer accesses: every unified format, static and looked up, loads and stores, 16-bit forms.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <cmath>

#include "gpu-service/shader/decode/buffer_format.hpp"
#include "gpu-service/shader/interpret/typed_element.hpp"
#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::memory_test {
namespace {

constexpr uint32_t kData = 16 * 1024 / 4;  // dwords: results lie behind the input's page

// v1 = lane, v2 = 16 * lane (the lane's element), results go to v3 + 16 * round.
const std::string kStart = "v_lshlrev_b32 v2, 4, v0\nv_add_nc_u32 v3, 0x4000, v2\n";

MemoryProgram typed_program(uint32_t seed) {
  MemoryProgram p;
  p.memory = random_words(seed, kData);
  p.memory.resize(kData * 9);
  return p;
}

// All 128 numbers of the descriptor's format field, in a loop.
std::string loop_over_formats(const std::string& body) {
  return kStart + "s_mov_b32 s20, 0\nL:\n" + body +
         "\nv_add_nc_u32 v3, 0x400, v3\ns_add_u32 s7, s7, 0x1000\ns_add_u32 s20, s20, 1\n"
         "s_cmp_lt_u32 s20, 128\ns_cbranch_scc1 L\n";
}

TEST(TypedBuffers, every_format_a_descriptor_can_name_loads_the_same_as_in_the_interpreter) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    MemoryProgram p = typed_program(seed);
    describe(p, {.records = 0x4000});
    p.whole_wave = false;
    p.both_widths = seed == 2;
    p.text = loop_over_formats(
        "buffer_load_format_xyzw v[8:11], v2, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\n"
        "global_store_dwordx4 v3, v[8:11], s[0:1]");
    EXPECT_EQ(difference(p), "");
  }
}

TEST(TypedBuffers, every_format_a_descriptor_can_name_stores_the_same_as_in_the_interpreter) {
  for (const uint32_t seed : {4u, 5u, 6u}) {
    MemoryProgram p = typed_program(seed);
    // Element stores into a copy of the results' area: its base moves with the rounds.
    describe(p, {.offset = 0x4000, .records = 0x24000});
    p.whole_wave = false;
    p.both_widths = seed == 5;
    p.text = loop_over_formats(
        "v_subrev_nc_u32 v4, 0x4000, v3\nglobal_load_dwordx4 v[8:11], v2, s[0:1]\ns_waitcnt vmcnt(0)\n"
        "buffer_store_format_xyzw v[8:11], v4, s[4:7], 0 offen");
    EXPECT_EQ(difference(p), "");
  }
}

TEST(TypedBuffers, halves_load_and_store_in_every_format) {
  MemoryProgram p = typed_program(7);
  p.whole_wave = p.both_widths = false;
  describe(p, {.records = 0x4000});
  for (const char* load : {"d16_xyz v[8:9]", "d16_hi_x v8"}) {
    p.text = loop_over_formats(std::string("v_mov_b32 v8, -1\nv_mov_b32 v9, -1\nbuffer_load_format_") + load +
                               ", v2, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\nglobal_store_dwordx2 v3, v[8:9], s[0:1]");
    EXPECT_EQ(difference(p), "") << load;
  }
  describe(p, {.offset = 0x4000, .records = 0x24000});
  for (const char* store : {"d16_xyzw v[8:9]", "d16_hi_x v8"}) {
    p.text = loop_over_formats(
        "v_subrev_nc_u32 v4, 0x4000, v3\nglobal_load_dwordx2 v[8:9], v2, s[0:1]\ns_waitcnt vmcnt(0)\n"
        "buffer_store_format_" +
        std::string(store) + ", v4, s[4:7], 0 offen");
    EXPECT_EQ(difference(p), "") << store;
  }
}

// Formats in the instruction; a few per program, as the driver's compiler is slow. Inputs, elements and results are
// bound.
void with_formats(uint32_t first, uint32_t count, bool stores) {
  MemoryProgram p = typed_program(first + 10);
  p.whole_wave = p.both_widths = p.addressed = false;
  describe(p, {.records = 0x24000});
  p.text = kStart;
  if (stores) p.text += "buffer_load_dwordx4 v[8:11], v2, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\n";
  for (uint32_t n = first; n < first + count; ++n) {
    const std::string format = fmt::format("format:[{}]", buffer_format_name(n));
    if (stores) {
      p.text += fmt::format("tbuffer_store_format_xyzw v[8:11], v3, s[4:7], 0 {} offen\n", format);
    } else {
      p.text += fmt::format(
          "tbuffer_load_format_xyzw v[8:11], v2, s[4:7], 0 {} offen\ns_waitcnt vmcnt(0)\n"
          "buffer_store_dwordx4 v[8:11], v3, s[4:7], 0 offen\n",
          format);
    }
    p.text += "v_add_nc_u32 v3, 0x400, v3\n";
  }
  EXPECT_EQ(difference(p), "") << "formats from " << first;
}

TEST(TypedBuffers, every_format_of_an_instruction_loads_and_stores) {
  for (uint32_t first = 1; first < 78; first += 7) {
    with_formats(first, 7, false);
    with_formats(first, 7, true);
  }
}

// The interpreter itself, against what the format's name says.
TEST(TypedBuffers, the_interpreter_loads_what_the_formats_say) {
  auto loaded = [](uint32_t word0, uint32_t word1, const std::string& format) {
    MemoryProgram p = typed_program(1);
    p.memory[0] = word0;
    p.memory[1] = word1;
    describe(p, {.records = 0x4000});
    p.text = kStart + "tbuffer_load_format_xyzw v[8:11], v2, s[4:7], 0 format:[" + format +
             "] offen\ns_waitcnt vmcnt(0)\nglobal_store_dwordx4 v3, v[8:11], s[0:1]\n";
    const auto words = interpreted(p);
    std::array<float, 4> out;
    for (size_t n = 0; n < 4; ++n) out[n] = std::bit_cast<float>(words[kData + n]);
    return out;
  };
  using Four = std::array<float, 4>;
  EXPECT_EQ(loaded(0xff80407f, 0, "BUF_FMT_8_8_8_8_UNORM"), (Four{127 / 255.0f, 64 / 255.0f, 128 / 255.0f, 1}));
  EXPECT_EQ(loaded(0xff81807f, 0, "BUF_FMT_8_8_8_8_SNORM"), (Four{1, -1, -1, -1 / 127.0f}));
  EXPECT_EQ(loaded(0xc0000401, 0, "BUF_FMT_2_10_10_10_USCALED"), (Four{1, 1, 0, 3}));
  EXPECT_EQ(loaded(0x00c00403, 0, "BUF_FMT_10_10_10_2_USCALED"), (Four{3, 256, 0, 3}));
  EXPECT_EQ(loaded(0x3c00c000, 0x0001fc00, "BUF_FMT_16_16_16_16_FLOAT"), (Four{-2, 1, -INFINITY, 0x1p-24f}));
  // 11, 11 and 10 bits: exponents 15 (1.0), 16 (2.0), 14 (0.5).
  EXPECT_EQ(loaded(15u << 6 | (16u << 6) << 11 | (14u << 5) << 22, 0, "BUF_FMT_10_11_11_FLOAT"), (Four{1, 2, 0.5f, 1}));
}

// The descriptor's format, stride and selectors as specialization constants: the same results.
TEST(TypedBuffers, a_format_that_the_pipeline_is_given_loads_and_stores_the_same) {
  // 8_SNORM, 16_FLOAT, 8_8_UINT, 10_11_11_FLOAT, 2_10_10_10_SNORM, 8_8_8_8_UNORM, 16_16_16_16_SSCALED, 32_32_32_FLOAT,
  // a reserved one.
  for (const uint32_t format : {2u, 13u, 18u, 36u + 7u, 45u, 56u, 68u, 74u, 100u}) {
    MemoryProgram p = typed_program(format);
    p.whole_wave = p.addressed = false;
    p.both_widths = format == 56;
    p.constants = true;
    describe(p, {.stride = 16, .records = 0x2400, .check = 0, .third = format << 12});
    p.sgprs[7] = (p.sgprs[7] & ~0xfffu) | 6 | 5 << 3 | 4 << 6 | 7 << 9;  // z, y, x, w
    p.text = kStart +
             "buffer_load_format_xyzw v[8:11], v0, s[4:7], 0 idxen\ns_waitcnt vmcnt(0)\n"
             "buffer_store_dwordx4 v[8:11], v3, s[4:7], 0 offen\n"
             "v_add_nc_u32 v4, 0x800, v0\nbuffer_store_format_xyzw v[8:11], v4, s[4:7], 0 idxen\n";
    EXPECT_EQ(difference(p), "") << "format " << format;
  }
}

// DST_SEL x, 1, 0, w: what is outside reads 0, but the constant stays 1.
TEST(TypedBuffers, elements_are_inside_whole_or_not_at_all) {
  for (const uint32_t check : {0u, 3u}) {
    for (const uint32_t stride : {0u, 12u}) {
      MemoryProgram p = typed_program(20 + check);
      p.whole_wave = p.both_widths = false;
      p.constants = true;
      describe(
          p, {.stride = stride, .records = check == 3 || stride == 0 ? 200u : 20u, .check = check, .third = 77u << 12});
      p.sgprs[7] = (p.sgprs[7] & ~0xfffu) | 4 | 1 << 3 | 0 << 6 | 7 << 9;
      const std::string where = stride == 0 ? " offen" : " idxen";
      const std::string from = stride == 0 ? " v2, s[4:7], 0 " : " v0, s[4:7], 0 ";
      p.text = kStart + "tbuffer_load_format_xyzw v[8:11]," + from + "format:[BUF_FMT_32_32_32_32_FLOAT]" + where +
               "\ns_waitcnt vmcnt(0)\nglobal_store_dwordx4 v3, v[8:11], s[0:1]\n"
               "v_add_nc_u32 v8, 7, v0\ntbuffer_store_format_x v8," +
               from + "format:[BUF_FMT_32_32_UINT]" + where + "\n";
      EXPECT_EQ(difference(p), "") << check << " " << stride;
    }
  }
}

TEST(TypedBuffers, reserved_formats_are_refused_by_name_where_the_instruction_has_them) {
  MemoryProgram p = typed_program(1);
  describe(p, {.records = 0x4000});
  p.text = kStart + "tbuffer_load_format_x v8, v2, s[4:7], 0 format:100 offen\n";
  EXPECT_NE(refusals(p).find("reserved buffer format"), std::string::npos) << refusals(p);
}

}  // namespace
}  // namespace orrery::shader::memory_test
