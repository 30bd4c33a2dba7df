// Draws cut into groups of primitives.
#include "gpu-service/draw/groups.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "gpu-service/shader/stage.hpp"

namespace orrery::draw {
namespace {

using Corners = std::vector<std::array<uint32_t, 3>>;

TEST(Groups, vertices_are_put_together_as_each_primitive_type_says) {
  const std::vector<uint32_t> ids{10, 11, 12, 13, 14, 15};
  const auto of = [&](PrimitiveType type) { return primitives_of(type, ids, false, 0); };
  EXPECT_EQ(of(PrimitiveType::points).size(), 6u);
  EXPECT_EQ(of(PrimitiveType::lines), (Corners{{10, 11}, {12, 13}, {14, 15}}));
  EXPECT_EQ(of(PrimitiveType::line_strip), (Corners{{10, 11}, {11, 12}, {12, 13}, {13, 14}, {14, 15}}));
  EXPECT_EQ(of(PrimitiveType::triangles), (Corners{{10, 11, 12}, {13, 14, 15}}));
  EXPECT_EQ(of(PrimitiveType::triangle_strip), (Corners{{10, 11, 12}, {11, 13, 12}, {12, 13, 14}, {13, 15, 14}}));
  EXPECT_EQ(of(PrimitiveType::triangle_fan), (Corners{{11, 12, 10}, {12, 13, 10}, {13, 14, 10}, {14, 15, 10}}));
  EXPECT_TRUE(of(PrimitiveType::rectangles).empty());
  const std::vector<uint32_t> restarted{1, 2, 3, 0xffff, 4, 5, 6};
  EXPECT_EQ(primitives_of(PrimitiveType::triangle_strip, restarted, true, 0xffff), (Corners{{1, 2, 3}, {4, 5, 6}}));
}

uint32_t word(const std::vector<std::byte>& memory, size_t byte) {
  uint32_t value = 0;
  std::memcpy(&value, memory.data() + byte, 4);
  return value;
}

TEST(Groups, each_group_and_wave_is_told_how_much_it_has) {
  namespace at = shader::draw_memory;
  DrawState state;
  state.primitive = PrimitiveType::triangles;
  state.primitive_shader.wave = 32;
  state.group_primitives = 20;
  state.group_vertices = 64;
  state.instances = 2;
  state.parameters = 1;
  std::vector<uint32_t> ids(75);
  for (uint32_t i = 0; i < ids.size(); ++i) ids[i] = i;
  const auto primitives = primitives_of(state.primitive, ids, false, 0);
  const auto groups = groups_of(state, primitives.size());
  ASSERT_TRUE(groups) << groups.error();
  EXPECT_EQ(groups->primitives, 20u);
  EXPECT_EQ(groups->threads, 64u);
  EXPECT_EQ(groups->count, 4u);
  std::vector<std::byte> memory(groups->all_bytes(), std::byte{0xaa});
  start_groups(state, *groups, primitives, memory);
  // The second group of the second instance: 5 primitives, 15 vertices, all in its first wave.
  const size_t base = size_t{3} * groups->bytes;
  EXPECT_EQ(word(memory, base + at::kGroupInfo), 15u << 12 | 5u << 22);
  EXPECT_EQ(word(memory, base + at::kAllocated), 0u);
  EXPECT_EQ(word(memory, base + at::kWaveInfo), 15u | 5u << 8 | 2u << 28);
  EXPECT_EQ(word(memory, base + at::kWaveInfo + 4), 1u << 24 | 2u << 28);
  const auto thread = [&](uint32_t n, uint32_t w) {
    return word(memory, base + at::kThreads + n * at::kThreadBytes + w * 4);
  };
  EXPECT_EQ(thread(4, at::kConnectivity), 12u | 13u << 16);
  EXPECT_EQ(thread(4, at::kThirdVertex), 14u);
  EXPECT_EQ(thread(4, at::kPrimitiveId), 24u);
  EXPECT_EQ(thread(13, at::kVertexId), 73u);
  EXPECT_EQ(thread(13, at::kInstanceId), 1u);
  state.passthrough = true;
  start_groups(state, *groups, primitives, memory);
  EXPECT_EQ(thread(4, at::kConnectivity), 12u | 13u << 10 | 14u << 20);
}

TEST(Groups, more_than_a_host_draw_holds_is_refused) {
  DrawState state;
  state.primitive = PrimitiveType::triangles;
  state.group_primitives = 1;
  state.group_vertices = 3;
  EXPECT_TRUE(groups_of(state, 65535));
  EXPECT_FALSE(groups_of(state, 65536));
  state.group_vertices = 2;
  EXPECT_FALSE(groups_of(state, 1));
}

}  // namespace
}  // namespace orrery::draw
