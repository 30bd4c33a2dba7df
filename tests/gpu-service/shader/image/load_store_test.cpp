// Loads, stores, atomics and queries: every format, dimension, level and register form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpu-service/shader/interpret/image_descriptor.hpp"
#include "tests/gpu-service/shader/image/image_program.hpp"

namespace orrery::shader::image_test {
namespace {

using memory_test::difference;
using memory_test::random_words;

bool plain_format(uint32_t format) { return (format >= 1 && format <= 71) || (format >= 75 && format <= 77); }

// Lane 0..63 to x 0..7, y 0..7, each a little outside of the 7 x 5 texels.
void texel_of_lane(const AddressWriter& writer, uint32_t lane, uint32_t z, uint32_t level,
                   std::span<uint32_t, 16> input) {
  writer.write({.coordinates = {lane % 8, lane / 8, z}, .level = level}, input);
}

std::vector<Round> every_format(bool apart) {
  std::vector<Round> rounds;
  for (uint32_t format = 1; format < 78; ++format) {
    if (!plain_format(format)) continue;
    const auto place = static_cast<uint32_t>(rounds.size()) * 2048;
    rounds.push_back({t_sharp({.format = format, .offset = apart ? place : 0})});
  }
  return rounds;
}

TEST(Images, every_format_loads_the_same_as_in_the_interpreter) {
  const std::string load = "image_load v[40:43], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D";
  const AddressWriter writer(load);
  for (const char* form : {"", " d16"}) {
    RoundsProgram p{.body = (*form ? "image_load v[40:41], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D" : load) +
                            std::string(form),
                    .rounds = every_format(false)};
    p.input = [&](size_t, uint32_t lane, auto input) { texel_of_lane(writer, lane, 0, 0, input); };
    p.texels = random_words(1, 5 * 64);
    EXPECT_EQ(difference(rounds_program(p)), "") << form;
  }
}

TEST(Images, every_format_stores_the_same_as_in_the_interpreter) {
  for (const bool halves : {false, true}) {
    const std::string store = fmt::format("image_store v[{}], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D{}",
                                          halves ? "10:11" : "10:13", halves ? " d16" : "");
    const AddressWriter writer(store);
    const auto data = random_words(2, 4096);
    RoundsProgram p{.body = store, .rounds = every_format(true)};
    p.input = [&](size_t round, uint32_t lane, auto input) {
      texel_of_lane(writer, lane, 0, 0, input);
      for (uint32_t n = 0; n < 4; ++n) input[2 + n] = data[(round * 64 + lane * 4 + n) % data.size()];
    };
    EXPECT_EQ(difference(rounds_program(p)), "") << halves;
  }
}

// Every dimension with levels, layers and views into them; coordinates reach past every end.
std::vector<ImageShape> shapes_of(uint32_t type) {
  std::vector<ImageShape> shapes;
  for (const uint32_t format : {56u, 22u, 71u, 1u}) {
    for (uint32_t view = 0; view < 4; ++view) {
      ImageShape s{.type = type, .format = format, .width = 7, .height = type == 11 ? 7u : 5u};
      if (type == 8 || type == 12) s.height = 1;
      if (type >= 10) s.last = type == 11 ? 11 : 4;
      if (view > 0) {
        s.max_mip = 2;
        s.last_level = view == 3 ? 1 : 2;
        s.base_level = view == 1 ? 0 : 1;
        if (type > 10) s.first_layer = 2;
      }
      shapes.push_back(s);
    }
  }
  return shapes;
}

struct Dimension {
  const char* name;
  uint32_t type, coordinates;
};
constexpr Dimension kDimensions[] = {{"1D", 8, 1},    {"2D", 9, 2},        {"3D", 10, 3},
                                     {"CUBE", 11, 3}, {"1D_ARRAY", 12, 2}, {"2D_ARRAY", 13, 3}};

// Loads of one image, or stores into one image after another.
std::string difference_of(const std::string& text, uint32_t type, bool stores, uint32_t data = 16,
                          bool both_widths = false) {
  const AddressWriter writer(text);
  RoundsProgram p{.body = text, .rounds = {}, .input = {}, .texels = random_words(3, 16 * 1024)};
  uint32_t next = 0;
  for (ImageShape shape : shapes_of(type)) {
    shape.offset = next;
    if (stores) next += 12 * 1024;
    p.rounds.push_back({t_sharp(shape)});
  }
  const auto values = random_words(4, 4096);
  p.input = [&](size_t round, uint32_t lane, auto input) {
    for (uint32_t n = data; n < 16; ++n) input[n - data + 12] = values[(round * 64 + lane * 4 + n) % values.size()];
    const uint32_t level = static_cast<uint32_t>(round + lane / 16) % 4;
    // No two lanes store to one texel.
    const bool rows = type != 8 && type != 12;
    writer.write({.coordinates = {rows ? lane % 8 : lane, lane / 8, static_cast<uint32_t>(round) % 6}, .level = level},
                 input);
  };
  MemoryProgram program = rounds_program(p);
  program.both_widths = both_widths;
  return memory_test::difference(program);
}

TEST(Images, every_dimension_loads_and_stores_in_every_level) {
  for (const Dimension& d : kDimensions) {
    const uint32_t last = 7 + d.coordinates;
    for (const char* level : {"", "_mip"}) {
      const uint32_t end = *level ? last + 1 : last;
      const std::string address = end == 8 ? "v8" : fmt::format("v[8:{}]", end);
      const std::string load =
          fmt::format("image_load{} v[40:43], {}, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_{}", level, address, d.name);
      EXPECT_EQ(difference_of(load, d.type, false, 16, d.type == 13), "") << load;
      const std::string store =
          fmt::format("image_store{} v[20:23], {}, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_{}", level, address, d.name);
      EXPECT_EQ(difference_of(store, d.type, true, 12, d.type == 13), "") << store;
    }
  }
}

TEST(Images, packed_forms_and_register_forms_load_and_store) {
  for (const char* text :
       {"image_load_pck v[40:43], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "image_load_pck_sgn v[40:41], v[8:9], s[20:27] dmask:0x3 dim:SQ_RSRC_IMG_2D",
        "image_load_mip_pck v[40:43], v[8:10], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "image_load_mip_pck_sgn v40, v[8:10], s[20:27] dmask:0x1 dim:SQ_RSRC_IMG_2D",
        "image_load v[40:42], v[8:9], s[20:27] dmask:0xb dim:SQ_RSRC_IMG_2D",
        "image_load v40, v[8:9], s[20:27] dmask:0x4 dim:SQ_RSRC_IMG_2D",
        "image_load v[40:44], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D tfe",
        "image_load v[40:42], v[8:9], s[20:27] dmask:0x7 dim:SQ_RSRC_IMG_2D tfe d16",
        "image_load v[40:41], v[8:9], s[20:27] dmask:0x7 dim:SQ_RSRC_IMG_2D d16",
        "image_load v[40:43], v8, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D a16",
        "image_load_mip v[40:43], [v11, v8], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D a16",
        "image_load v[40:43], [v11, v8], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "image_load_mip v[40:43], [v11, v8, v15], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "image_load v[8:11], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D\nv_mov_b32 v40, v8\nv_mov_b32 v41, v11",
        "image_load v[40:43], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D r128",
        "image_get_resinfo v[40:43], v8, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
        "image_get_resinfo v40, v8, s[20:27] dmask:0x8 dim:SQ_RSRC_IMG_2D a16"}) {
    EXPECT_EQ(difference_of(text, 9, false), "") << text;
  }
  for (const char* text : {"image_store_pck v[20:23], v[8:9], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
                           "image_store_mip_pck v[20:23], v[8:10], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D",
                           "image_store v[20:21], v[8:9], s[20:27] dmask:0x9 dim:SQ_RSRC_IMG_2D",
                           "image_store v[20:21], v[8:9], s[20:27] dmask:0x7 dim:SQ_RSRC_IMG_2D d16",
                           "image_store v[20:23], [v11, v8], s[20:27] dmask:0xf dim:SQ_RSRC_IMG_2D"}) {
    EXPECT_EQ(difference_of(text, 9, true, 12), "") << text;
  }
  for (const uint32_t type : {10u, 11u, 13u}) {
    EXPECT_EQ(difference_of("image_get_resinfo v[40:43], v8, s[20:27] dmask:0xf dim:SQ_RSRC_IMG_3D", type, false), "");
  }
}

// One lane per texel, so that the order does not matter; v[20:23] hold the data.
std::string atomics_difference(const std::string& name, bool wide) {
  const bool compares = name.find("cmpswap") != std::string::npos;
  const uint32_t registers = (wide ? 2 : 1) * (compares ? 2 : 1);
  const std::string data = registers == 1 ? "v20" : fmt::format("v[20:{}]", 19 + registers);
  const std::string text = fmt::format("image_atomic_{} {}, v[8:9], s[20:27] dmask:{:#x} dim:SQ_RSRC_IMG_2D glc\n",
                                       name, data, (1u << registers) - 1);
  std::string moves;
  for (uint32_t n = 0; n < registers; ++n) moves += fmt::format("\nv_mov_b32 v{}, v{}", 40 + n, 20 + n);
  const AddressWriter writer(text);
  RoundsProgram p{
      .body = text + "s_waitcnt vmcnt(0)" + moves, .rounds = {}, .input = {}, .texels = random_words(5, 4096)};
  p.rounds.push_back({t_sharp({.format = wide ? 62u : 20u, .width = 6, .height = 7})});
  p.rounds.push_back({t_sharp({.format = wide ? 64u : 22u, .width = 8, .height = 3})});
  auto values = random_words(6, 1024);
  if (name.starts_with("f")) {  // neither NaNs nor denormals
    for (uint32_t& word : values) word = (word & ~(1u << 30)) | 1u << 29;
    for (uint32_t& word : p.texels) word = (word & ~(1u << 30)) | 1u << 29;
  }
  p.input = [&](size_t, uint32_t lane, auto input) {
    writer.write({.coordinates = {lane % 8, lane / 8, 0}}, input);
    for (uint32_t n = 0; n < 4; ++n) input[12 + n] = values[lane * 4 + n];
    // Some compares hit.
    if (compares && lane % 3 == 0) {
      const uint32_t at = lane / 8 * 64 + lane % 8 * (wide ? 2 : 1);
      for (uint32_t n = 0; n < registers / 2; ++n) input[12 + registers / 2 + n] = p.texels[at + n];
    }
  };
  MemoryProgram program = rounds_program(p);
  program.both_widths = name == "add";
  return memory_test::difference(program);
}

TEST(Images, atomics_of_32_and_64_bits) {
  for (const char* name : {"swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc",
                           "dec", "fmin", "fmax"}) {
    EXPECT_EQ(atomics_difference(name, false), "") << name;
  }
  for (const char* name : {"swap", "cmpswap", "add", "smin", "inc", "fmax"}) {
    EXPECT_EQ(atomics_difference(name, true), "") << name << " x2";
  }
}

}  // namespace
}  // namespace orrery::shader::image_test
