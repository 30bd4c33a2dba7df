// The gate by its rules: which layout, by which exchange, and the reason when it is the whole wave in one invocation.
#include "gpu-service/shader/lanes/lane_gate.hpp"

#include <gtest/gtest.h>

namespace orrery::shader {
namespace {

constexpr ProgramNeeds kNothing{}, kMasks{.votes = true, .masks_whole = true},
    kLds{.lane_values = true, .lockstep = true, .lds = true, .barrier = true};

HostLanes host(uint32_t min, uint32_t max) {
  return {.min_subgroup = min, .max_subgroup = max, .max_invocations = 1024, .workgroup_memory = 32768};
}
HostLanes unknown() { return host(0, 0); }

LaneChoice choose(uint32_t wave, const ProgramNeeds& needs, uint32_t threads, const HostLanes& h,
                  LayoutWish wish = LayoutWish::none) {
  const auto choice = choose_lanes(wave, needs, {.size = {threads, 1, 1}}, h, wish);
  EXPECT_TRUE(choice.has_value()) << choice.error();
  return choice.value_or(LaneChoice{{0, 0, 0}, "none", false});
}

TEST(LaneGate, where_the_subgroups_width_is_known_lanes_are_split_whatever_the_program_needs) {
  for (const ProgramNeeds& needs : {kNothing, kMasks, kLds}) {
    for (const uint32_t threads : {32u, 64u, 256u}) {
      EXPECT_EQ(choose(32, needs, threads, host(32, 32)).layout, (LaneLayout{32, 32, 1, LaneExchange::subgroup}));
      EXPECT_EQ(choose(64, needs, threads, host(32, 32)).layout, (LaneLayout{64, 32, 2, LaneExchange::subgroup}));
      EXPECT_EQ(choose(32, needs, threads, host(8, 8)).layout, (LaneLayout{32, 8, 4, LaneExchange::subgroup}));
      EXPECT_EQ(choose(64, needs, threads, host(16, 16)).layout, (LaneLayout{64, 16, 4, LaneExchange::subgroup}));
      EXPECT_EQ(choose(64, needs, threads, host(8, 8)).layout, (LaneLayout{64, 8, 8, LaneExchange::subgroup}));
      EXPECT_EQ(choose(64, needs, threads, host(8, 8)).reason, "");
    }
  }
}

TEST(LaneGate, a_wave_of_32_on_a_host_of_32_and_64_requires_32) {
  EXPECT_EQ(choose(32, kMasks, 64, host(32, 64)).layout.required_subgroup(), 32u);
  EXPECT_EQ(choose(64, kMasks, 64, host(32, 64)).layout, (LaneLayout{64, 64, 1, LaneExchange::subgroup}));
}

TEST(LaneGate, an_unknown_width_exchanges_one_waves_lanes_through_workgroup_memory) {
  for (const uint32_t wave : {32u, 64u}) {
    const LaneChoice choice = choose(wave, kMasks, wave, unknown());
    EXPECT_EQ(choice.layout, workgroup_layout(wave));
    EXPECT_EQ(choice.layout.required_subgroup(), 0u);
    EXPECT_EQ(choice.reason, "");
    EXPECT_EQ(choose(wave, kLds, wave / 2, unknown()).layout, workgroup_layout(wave));
  }
}

TEST(LaneGate, an_unknown_width_and_several_waves_run_whole_waves_and_say_why) {
  const LaneChoice choice = choose(64, kMasks, 256, unknown());
  EXPECT_EQ(choice.layout, whole_wave_layout(64));
  EXPECT_EQ(
      choice.reason,
      "the subgroup's width is not known; needs of its wave: votes, masks read whole; a group of 4 waves: a barrier "
      "in one wave's branch would not be met by the others");
}

TEST(LaneGate, a_program_that_needs_nothing_of_its_wave_needs_no_exchange_either) {
  const LaneChoice choice = choose(64, {.lds = true, .barrier = true}, 256, unknown());
  EXPECT_EQ(choice.layout, separate_layout(64));
  EXPECT_EQ(choice.reason, "");
  EXPECT_NE(why_not(separate_layout(64), kMasks, {.size = {64, 1, 1}}, unknown()), "");
}

TEST(LaneGate, lds_beyond_the_devices_workgroup_memory_lies_in_device_memory) {
  const LaneLayout layout = subgroup_layout(32, 32);
  const GroupShape fits{.size = {64, 1, 1}, .lds_bytes = 32768}, large{.size = {64, 1, 1}, .lds_bytes = 33280};
  EXPECT_EQ(lds_home(layout, kLds, fits, host(32, 32)), LdsHome::workgroup);
  EXPECT_EQ(lds_home(layout, kLds, large, host(32, 32)), LdsHome::memory);
  EXPECT_EQ(why_not(layout, kLds, large, host(32, 32)), "");
  // The exchange has its own share.
  EXPECT_EQ(lds_home(workgroup_layout(32), kLds, {.size = {32, 1, 1}, .lds_bytes = 32768}, unknown()), LdsHome::memory);
  EXPECT_EQ(why_not(workgroup_layout(32), kLds, {.size = {32, 1, 1}, .lds_bytes = 32768}, unknown()), "");
}

TEST(LaneGate, lds_with_64_bit_atomics_lies_where_the_device_has_them) {
  ProgramNeeds wide = kLds;
  wide.wide_lds_atomics = true;
  const LaneLayout layout = subgroup_layout(32, 32);
  const GroupShape group{.size = {32, 1, 1}, .lds_bytes = 1024};
  HostLanes h = host(32, 32);
  EXPECT_EQ(lds_home(layout, wide, group, h), LdsHome::memory);
  h.workgroup_views = true;
  EXPECT_EQ(lds_home(layout, wide, group, h), LdsHome::views);
  EXPECT_EQ(lds_home(layout, kLds, group, h), LdsHome::workgroup);
  EXPECT_EQ(lds_home(workgroup_layout(32), wide, group, h), LdsHome::memory) << "views would lie over the exchange";
  h.shared_int64_atomics = false;
  EXPECT_EQ(lds_home(layout, wide, group, h), LdsHome::memory);
  EXPECT_EQ(why_not(layout, wide, group, h), "");
  h.buffer_int64_atomics = false;
  EXPECT_EQ(why_not(layout, wide, group, h),
            "64-bit LDS atomics, which the device has neither in workgroup memory nor in buffers");
}

TEST(LaneGate, full_subgroups_that_can_not_be_required_are_an_unknown_width) {
  HostLanes h = host(32, 32);
  h.full_subgroups = false;
  EXPECT_EQ(choose(32, kMasks, 32, h).layout, workgroup_layout(32));
  EXPECT_EQ(choose(32, kMasks, 64, h).layout, whole_wave_layout(32));
}

TEST(LaneGate, more_lanes_an_invocation_than_the_limit_are_a_whole_wave) {
  const LaneChoice choice = choose(64, kMasks, 256, host(2, 2));
  EXPECT_EQ(choice.layout, whole_wave_layout(64));
  EXPECT_NE(choice.reason.find("32 lanes an invocation; 16 at most"), std::string::npos) << choice.reason;
  EXPECT_EQ(choose(64, kMasks, 256, host(4, 4)).layout.k, 16u);
}

TEST(LaneGate, subgroups_wider_than_the_wave_are_of_no_use) {
  EXPECT_EQ(choose(32, kMasks, 32, host(64, 64)).layout, workgroup_layout(32));
  const LaneChoice choice = choose(32, kMasks, 64, host(64, 64));
  EXPECT_EQ(choice.layout, whole_wave_layout(32));
  EXPECT_EQ(choice.reason.find("a wave of 32 on subgroups of at least 64"), 0u) << choice.reason;
}

TEST(LaneGate, lds_makes_room_for_the_exchange) {
  const GroupShape full{.size = {32, 1, 1}, .lds_bytes = 32768};
  const auto choice = choose_lanes(32, kLds, full, unknown());
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->layout, workgroup_layout(32));
  EXPECT_EQ(lds_home(choice->layout, kLds, full, unknown()), LdsHome::memory);
  HostLanes none = unknown();
  none.workgroup_memory = 256;
  EXPECT_EQ(choose_lanes(32, kLds, full, none)->layout, whole_wave_layout(32));
}

TEST(LaneGate, a_group_that_no_workgroup_holds_is_refused_with_the_reasons) {
  HostLanes h = host(32, 32);
  h.max_invocations = 8;
  const auto choice = choose_lanes(32, kMasks, {.size = {1024, 1, 1}}, h);
  ASSERT_FALSE(choice);
  EXPECT_NE(choice.error().find("a group of 32 waves needs 32 invocations, the device allows 8"), std::string::npos)
      << choice.error();
}

TEST(LaneGate, a_wish_is_granted_where_it_can_be_and_otherwise_the_reason_is_said) {
  EXPECT_EQ(choose(64, kMasks, 256, host(32, 32), LayoutWish::whole_wave).layout, whole_wave_layout(64));
  EXPECT_EQ(choose(64, kMasks, 256, host(32, 32), LayoutWish::whole_wave).reason, "");
  EXPECT_EQ(choose(64, kMasks, 64, host(32, 32), LayoutWish::exchange).layout, workgroup_layout(64));
  const LaneChoice refused = choose(64, kMasks, 256, host(32, 32), LayoutWish::exchange);
  EXPECT_EQ(refused.layout, subgroup_layout(64, 32));
  EXPECT_NE(refused.reason.find("a group of 4 waves"), std::string::npos) << refused.reason;
  EXPECT_EQ(layout_wish("whole-wave"), LayoutWish::whole_wave);
  EXPECT_EQ(layout_wish("fast"), std::nullopt);
}

TEST(LaneGate, the_seed_is_a_constant_only_for_groups_of_full_waves) {
  EXPECT_TRUE(waves_start_full(64, {.size = {8, 8, 2}}));
  EXPECT_FALSE(waves_start_full(64, {.size = {8, 8, 2}, .partial = true}));
  EXPECT_FALSE(waves_start_full(64, {.size = {48, 1, 1}}));
  EXPECT_FALSE(choose(32, kMasks, 48, host(32, 32)).constant_seed);
}

TEST(LaneGate, layouts_have_names_that_tell_them_apart) {
  EXPECT_EQ(whole_wave_layout(32).text(), "whole wave");
  EXPECT_EQ(subgroup_layout(64, 32).text(), "2 lanes an invocation, subgroups of 32");
  EXPECT_EQ(subgroup_layout(32, 32).text(), "per lane, subgroups of 32");
  EXPECT_EQ(workgroup_layout(64).text(), "per lane, workgroup memory");
  EXPECT_EQ(separate_layout(64).text(), "per lane, no exchange");
}

}  // namespace
}  // namespace orrery::shader
