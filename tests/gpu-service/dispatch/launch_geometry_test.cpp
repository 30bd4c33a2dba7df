#include "gpu-service/dispatch/launch_geometry.hpp"

#include <gtest/gtest.h>

#include "gpu-service/dispatch/lane_choice.hpp"

namespace orrery::dispatch {
namespace {

using Three = std::array<uint32_t, 3>;

DispatchState state_of(Three group, Three groups, uint32_t initiator = kWave32 | kStartAtZero) {
  DispatchState state;
  state.group_size = group;
  state.groups = groups;
  state.initiator = initiator;
  return state;
}

TEST(LaunchGeometry, full_groups_have_no_thread_limit) {
  const auto g = launch_geometry(state_of({8, 8, 1}, {3, 2, 1}));
  ASSERT_TRUE(g) << g.error();
  EXPECT_EQ(g->wave, 32u);
  EXPECT_EQ(g->count, (Three{3, 2, 1}));
  EXPECT_EQ(g->threads, (Three{0, 0, 0}));
  EXPECT_EQ(g->waves_per_group(), 2u);
}

TEST(LaunchGeometry, the_initiator_chooses_the_wave_width) {
  EXPECT_EQ(launch_geometry(state_of({64, 1, 1}, {1, 1, 1}, 0x41))->wave, 64u);
  EXPECT_EQ(launch_geometry(state_of({64, 1, 1}, {1, 1, 1}, 0x8041))->wave, 32u);
}

TEST(LaunchGeometry, thread_dimensions_become_groups_and_a_partial_last_one) {
  const auto g = launch_geometry(state_of({32, 4, 1}, {100, 8, 1}, kWave32 | kStartAtZero | kThreadDimensions));
  ASSERT_TRUE(g) << g.error();
  EXPECT_EQ(g->count, (Three{4, 2, 1}));
  EXPECT_EQ(g->threads, (Three{100, 8, 1}));
  const auto whole = launch_geometry(state_of({32, 4, 1}, {96, 8, 1}, kWave32 | kStartAtZero | kThreadDimensions));
  EXPECT_EQ(whole->threads, (Three{0, 0, 0}));
}

TEST(LaunchGeometry, partial_sizes_shorten_the_last_group) {
  auto state = state_of({32, 1, 1}, {3, 1, 1}, kWave32 | kStartAtZero | kPartialGroups);
  state.partial_size = {5, 1, 1};
  EXPECT_EQ(launch_geometry(state)->threads, (Three{69, 1, 1}));
  state.partial_size = {32, 1, 1};  // an aligned launch names the full size
  EXPECT_EQ(launch_geometry(state)->threads, (Three{0, 0, 0}));
  state.partial_size = {0, 1, 1};
  EXPECT_FALSE(launch_geometry(state));
  state.partial_size = {33, 1, 1};
  EXPECT_FALSE(launch_geometry(state));
}

TEST(LaunchGeometry, group_counts_are_ends_when_the_launch_starts_later) {
  auto state = state_of({32, 1, 1}, {10, 1, 1}, kWave32);
  state.start = {4, 0, 0};
  auto g = launch_geometry(state);
  EXPECT_EQ(g->first, (Three{4, 0, 0}));
  EXPECT_EQ(g->count, (Three{6, 1, 1}));
  state.initiator |= kStartAtZero;
  EXPECT_EQ(launch_geometry(state)->count, (Three{10, 1, 1}));
  state.initiator &= ~kStartAtZero;
  state.start = {10, 0, 0};
  EXPECT_TRUE(launch_geometry(state)->empty());
  state.start = {UINT32_MAX, 0, 0};
  EXPECT_TRUE(launch_geometry(state)->empty());
}

TEST(LaunchGeometry, groups_that_the_hardware_has_not_are_refused) {
  EXPECT_FALSE(launch_geometry(state_of({0, 1, 1}, {1, 1, 1})));
  EXPECT_FALSE(launch_geometry(state_of({1025, 1, 1}, {1, 1, 1})));
  EXPECT_FALSE(launch_geometry(state_of({32, 32, 2}, {1, 1, 1})));
  EXPECT_FALSE(launch_geometry(state_of({65535, 65535, 65535}, {1, 1, 1})));
  EXPECT_TRUE(launch_geometry(state_of({1024, 1, 1}, {1, 1, 1})));
}

TEST(LaunchGeometry, totals_behind_32_bits_are_refused_where_threads_are_counted) {
  auto state = state_of({32, 1, 1}, {UINT32_MAX, 1, 1}, kWave32 | kStartAtZero | kPartialGroups);
  state.partial_size = {5, 1, 1};
  EXPECT_FALSE(launch_geometry(state));
}

TEST(LaunchGeometry, the_registers_name_lds_and_scratch) {
  auto state = state_of({32, 1, 1}, {1, 1, 1});
  state.rsrc2 = 1 | 64u << 15;
  EXPECT_FALSE(launch_geometry(state)) << "scratch without a size";
  state.tmpring_size = 5u << 12 | 100;
  const auto g = launch_geometry(state);
  EXPECT_TRUE(g->scratch);
  EXPECT_EQ(g->scratch_wave_bytes, 5120u);
  EXPECT_EQ(g->workgroup_bytes, 32768u);
}

TEST(LaunchGeometry, a_launch_is_cut_into_parts_that_cover_it_once) {
  LaunchGeometry g;
  g.first = {7, 0, 1};
  g.count = {10, 3, 2};
  const Three most{4, 2, 5};
  std::vector<int> hits(10 * 3 * 2);
  uint64_t parts = 0;
  for_each_part(g, most, [&](const Three& first, const Three& count) {
    ++parts;
    for (size_t i = 0; i < 3; ++i) EXPECT_LE(count[i], most[i]);
    for (uint32_t z = 0; z < count[2]; ++z) {
      for (uint32_t y = 0; y < count[1]; ++y) {
        for (uint32_t x = 0; x < count[0]; ++x) {
          ++hits[((first[2] - 1 + z) * 3 + first[1] + y) * 10 + first[0] - 7 + x];
        }
      }
    }
  });
  EXPECT_EQ(parts, dispatches_needed(g, most));
  for (const int hit : hits) EXPECT_EQ(hit, 1);
  g.count = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  EXPECT_EQ(dispatches_needed(g, {1, 1, 1}), UINT64_MAX);
}

TEST(LaunchGeometry, a_part_holds_no_more_groups_than_asked) {
  LaunchGeometry g;
  g.count = {10, 3, 2};
  const Three most{65535, 65535, 65535};
  EXPECT_EQ(part_of_groups(g, most, 4), (Three{4, 1, 1}));
  EXPECT_EQ(part_of_groups(g, most, 25), (Three{25, 2, 1}));
  EXPECT_EQ(part_of_groups(g, most, 1000)[2], 33u);
  EXPECT_EQ(part_of_groups(g, most, 0), (Three{1, 1, 1}));
  EXPECT_EQ(part_of_groups(g, {8, 8, 8}, UINT64_MAX), (Three{8, 8, 8}));
  for (uint64_t groups = 1; groups < 70; ++groups) {
    const Three part = part_of_groups(g, most, groups);
    for_each_part(g, part, [&](const Three&, const Three& count) {
      EXPECT_LE(static_cast<uint64_t>(count[0]) * count[1] * count[2], groups);
    });
  }
}

TEST(LaneChoice, the_subgroup_is_the_widest_that_fits_the_wave) {
  vulkan::DeviceFacts facts;
  facts.max_invocations = 1024;
  facts.max_group_size = {1024, 1024, 64};
  facts.max_workgroup_subgroups = 128;
  const auto choose = [&](uint32_t wave, uint32_t min, uint32_t max, uint32_t threads = 64) {
    facts.min_subgroup_size = min;
    facts.max_subgroup_size = max;
    LaunchGeometry g;
    g.wave = wave;
    g.group_size = {threads, 1, 1};
    const auto everything = [] { return shader::ProgramNeeds{.votes = true, .masks_whole = true}; };
    const auto choice = choose_layout(g, facts, everything);
    return choice ? choice->layout : shader::LaneLayout{0, 0, 0};
  };
  EXPECT_EQ(choose(32, 8, 8), (shader::LaneLayout{32, 8, 4}));
  EXPECT_EQ(choose(64, 8, 8), (shader::LaneLayout{64, 8, 8}));
  EXPECT_EQ(choose(32, 32, 32), (shader::LaneLayout{32, 32, 1}));
  EXPECT_EQ(choose(64, 32, 32), (shader::LaneLayout{64, 32, 2}));
  EXPECT_EQ(choose(32, 32, 64), (shader::LaneLayout{32, 32, 1}));
  EXPECT_EQ(choose(64, 32, 64), (shader::LaneLayout{64, 64, 1}));
  // A wave narrower than every subgroup: several waves to a group each run in one invocation.
  EXPECT_EQ(choose(32, 64, 64), shader::whole_wave_layout(32));
  facts.max_workgroup_subgroups = 16;
  EXPECT_EQ(choose(64, 32, 32, 1024), (shader::LaneLayout{64, 32, 2}));
  EXPECT_EQ(choose(32, 32, 32, 1024), shader::whole_wave_layout(32));
  facts.max_invocations = 8;
  EXPECT_EQ(choose(32, 32, 32, 1024), (shader::LaneLayout{0, 0, 0}));
}

}  // namespace
}  // namespace orrery::dispatch
