// Waves run on the host to find what they store to; programs assembled by llvm-mc-19.
#include "gpu-service/dispatch/host_run.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "gpu-service/dispatch/host_memory.hpp"
#include "gpu-service/dispatch/routes.hpp"
#include "tests/gpu-service/dispatch/test_guest.hpp"
#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::dispatch {
namespace {

namespace interpret = shader::interpret;
using memory::GuestSpan;

constexpr uint64_t kWindow = 0x2'0000'0000, kSize = 8 << 20;
constexpr uint64_t kTable = 0x1000, kIn = 0x100000, kOut = 0x400000;

struct HostRuns {
  TestGuest guest;
  shader::Program program;
  DispatchState state;
  LaunchGeometry geometry;

  explicit HostRuns(const std::string& text, uint32_t groups = 4, uint32_t threads = 64) {
    guest.map({TestGuest::entry(kWindow, kSize, 0)});
    EXPECT_TRUE(guest.memory->refresh());
    program = shader::testing::program_of(shader::testing::assemble(text, 32));
    state.program = {kWindow + 0x700000};
    state.rsrc2 = 8u << 1 | 1u << 7;  // eight user registers, then the group's number in s8
    state.initiator = kWave32 | kStartAtZero;
    state.group_size = {threads, 1, 1};
    state.groups = {groups, 1, 1};
    point(0, kTable);
    point(2, kIn);
    point(4, kOut);
    const auto launch = launch_geometry(state);
    EXPECT_TRUE(launch);
    geometry = *launch;
  }
  void point(size_t at, uint64_t offset) {
    state.user_data[at] = static_cast<uint32_t>(kWindow + offset);
    state.user_data[at + 1] = static_cast<uint32_t>((kWindow + offset) >> 32);
  }
  // Entry `index` of the table: a raw buffer.
  void describe(uint64_t index, uint64_t offset, uint32_t bytes) {
    const uint64_t base = kWindow + offset;
    const uint32_t words[] = {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32), bytes, 3u << 28};
    std::memcpy(guest.guest_bytes(kTable + index * 16), words, 16);
  }
  std::expected<HostRun, HostRunFailure> run(HostRunLimits limits = {.most_waves = kMostDispatchWaves, .threads = 2}) {
    return run_on_host(program, state, geometry, *guest.memory, limits);
  }
};

std::vector<std::pair<uint64_t, uint64_t>> offsets(const std::vector<GuestSpan>& spans) {
  std::vector<std::pair<uint64_t, uint64_t>> out;
  for (const auto& s : spans) out.emplace_back(s.begin.value - kWindow, s.size.value);
  return out;
}
using Offsets = std::vector<std::pair<uint64_t, uint64_t>>;

// The seed's loop: a wave folds what it loads and stores one dword a lane through the table's entry for its group.
constexpr const char* kStream =
    "s_lshl_b32 s9, s8, 4\ns_load_dwordx4 s[12:15], s[0:1], s9\nv_mov_b32 v2, 0\nv_lshlrev_b32 v1, 2, v0\ns_lshl_b32 "
    "s10, s8, 12\n"
    "v_add_nc_u32 v3, s10, v1\ns_mov_b32 s11, 0\nL1:\nglobal_load_dword v4, v3, s[2:3]\ns_waitcnt vmcnt(0)\n"
    "v_xor_b32 v2, v2, v4\nv_mul_lo_u32 v2, v2, v2\nv_add_nc_u32 v3, 0x100, v3\ns_add_u32 s11, s11, 1\ns_cmp_lt_u32 "
    "s11, 16\n"
    "s_cbranch_scc1 L1\nbuffer_store_dword v2, v1, s[12:15], 0 offen";

TEST(HostRun, finds_what_groups_store_through_a_table_that_they_index) {
  HostRuns host(kStream);
  for (uint64_t group = 0; group < 4; ++group) host.describe(group, kOut + group * 0x10000, 256);
  const auto run = host.run();
  ASSERT_TRUE(run) << run.error().reason;
  EXPECT_EQ(offsets(run->written),
            (Offsets{{kOut, 256}, {kOut + 0x10000, 256}, {kOut + 0x20000, 256}, {kOut + 0x30000, 256}}));
  EXPECT_EQ(offsets(run->writable),
            (Offsets{{kOut, 0x4000}, {kOut + 0x10000, 0x4000}, {kOut + 0x20000, 0x4000}, {kOut + 0x30000, 0x4000}}));
  EXPECT_FALSE(run->sampled);
  EXPECT_EQ(run->groups, 4u);
  EXPECT_EQ(run->waves, 8u);
  EXPECT_EQ(run->escapes, 0u);
  // The table's bytes count; what is folded only has to be there.
  ASSERT_EQ(run->notes.read.size(), 1u);
  EXPECT_EQ(run->notes.read[0].span, (GuestSpan{{kWindow + kTable}, {64}}));
  EXPECT_EQ(run->notes.not_checkable, "");
  uint64_t hashed = 0;
  const auto nothing = [](GuestSpan) { return false; };
  host.guest.set_word(kIn, 5, 99);
  host.guest.set_word(kOut, 5, 99);
  EXPECT_EQ(check_notes(run->notes, *host.guest.memory, nothing, hashed), memory::NotesCheck::same);
  host.guest.set_word(kTable, 4, 0);
  EXPECT_EQ(check_notes(run->notes, *host.guest.memory, nothing, hashed), memory::NotesCheck::bytes_changed);
  // Nothing was stored.
  EXPECT_EQ(host.guest.word(kOut, 0), 0u);
}

TEST(HostRun, leaving_data_out_finds_the_same_places_in_fewer_steps) {
  HostRuns host(kStream, 16);
  for (uint64_t group = 0; group < 16; ++group) host.describe(group, kOut + (group * 7 % 16) * 0x1000, 200);
  const auto part = host.run(), whole = host.run({.most_waves = kMostDispatchWaves, .threads = 1, .whole = true});
  ASSERT_TRUE(part && whole);
  EXPECT_EQ(part->written, whole->written);
  EXPECT_LT(part->steps, whole->steps);
  EXPECT_LT(part->notes.read.size(), whole->notes.read.size() + 1);
  uint64_t part_bytes = 0, whole_bytes = 0;
  for (const auto& r : part->notes.read) part_bytes += r.span.size.value;
  for (const auto& r : whole->notes.read) whole_bytes += r.span.size.value;
  EXPECT_LT(part_bytes, whole_bytes);
}

TEST(HostRun, an_address_that_was_loaded_is_followed) {
  // Every lane stores to where a word of the input says.
  HostRuns host(
      "v_lshlrev_b32 v1, 2, v0\ns_lshl_b32 s10, s8, 8\nv_add_nc_u32 v1, s10, v1\n"
      "global_load_dword v2, v1, s[2:3]\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v0, s[4:5]",
      1);
  for (uint64_t i = 0; i < 64; ++i) host.guest.set_word(kIn, i, static_cast<uint32_t>(i * 0x1000));
  const auto run = host.run();
  ASSERT_TRUE(run);
  ASSERT_EQ(run->written.size(), 64u);
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(run->written[i], (GuestSpan{{kWindow + kOut + i * 0x1000}, {64}}));
  }
  EXPECT_EQ(run->notes.read[0].span.begin.value, kWindow + kIn);
}

TEST(HostRun, a_place_that_depends_on_the_groups_own_stores_is_found_by_running_all_of_it) {
  // Stores an offset, loads it back, stores there.
  HostRuns host(
      "v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 7, v0\nglobal_store_dword v1, v2, s[2:3]\n"
      "s_waitcnt_vscnt null, 0\nglobal_load_dword v3, v1, s[2:3]\ns_waitcnt vmcnt(0)\n"
      "global_store_dword v3, v0, s[4:5]",
      1, 32);
  const auto run = host.run();
  ASSERT_TRUE(run) << run.error().reason;
  ASSERT_EQ(run->written.size(), 33u);
  EXPECT_EQ(run->written.back(), (GuestSpan{{kWindow + kOut + 31 * 128}, {64}}));
  EXPECT_EQ(host.guest.word(kIn, 3), 0u);
}

TEST(HostRun, groups_do_not_see_each_others_stores_however_many_threads_run) {
  // Each group adds one to the same word and stores as far as it then says.
  HostRuns host(
      "v_mov_b32 v1, 0\nv_mov_b32 v2, 64\nglobal_atomic_add v3, v1, v2, s[2:3] glc\ns_waitcnt vmcnt(0)\n"
      "global_store_dword v3, v0, s[4:5]",
      32, 1);
  for (const unsigned threads : {1u, 3u}) {
    const auto run = host.run({.most_waves = kMostDispatchWaves, .threads = threads});
    ASSERT_TRUE(run);
    EXPECT_EQ(offsets(run->written), (Offsets{{kIn, 64}, {kOut, 64}}));
  }
}

TEST(HostRun, a_dispatch_of_many_waves_is_sampled_and_its_hull_is_what_is_mapped) {
  HostRuns host(kStream, 5000);
  host.guest.map(
      {TestGuest::entry(kWindow, 0x480000, 0), TestGuest::entry(kWindow + 0x4c0000, kSize - 0x4c0000, 0x4c0000)});
  ASSERT_TRUE(host.guest.memory->refresh());
  host.state.rsrc2 = 8u << 1 | 1u << 7;
  for (uint64_t group = 0; group < 5000; ++group) host.describe(group, kOut + group * 0x80, 128);
  // The table lies in front of the input.
  const auto run = host.run();
  ASSERT_TRUE(run) << run.error().reason;
  EXPECT_TRUE(run->sampled);
  EXPECT_EQ(run->groups, kMostSampledGroups);
  // 5000 times 128 bytes from 0x400000 on end at 0x49c400, inside the hole; a page in front is the margin.
  EXPECT_EQ(offsets(run->writable), (Offsets{{kOut - 0x4000, 0x84000}}));
}

TEST(HostRun, a_samples_groups_hold_the_first_and_the_last) {
  LaunchGeometry geometry;
  geometry.wave = 32;
  geometry.group_size = {64, 1, 1};
  geometry.first = {5, 6, 7};
  geometry.count = {300, 20, 3};
  auto groups = groups_to_run(geometry, 100);
  ASSERT_EQ(groups.size(), kMostSampledGroups);
  EXPECT_EQ(groups.front(), (std::array<uint32_t, 3>{5, 6, 7}));
  EXPECT_EQ(groups.back(), (std::array<uint32_t, 3>{304, 25, 9}));
  EXPECT_EQ(std::set(groups.begin(), groups.end()).size(), groups.size());
  EXPECT_EQ(groups_to_run(geometry, 36000).size(), 18000u);
  geometry.count = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  groups = groups_to_run(geometry, kMostDispatchWaves);
  EXPECT_EQ(groups.size(), kMostSampledGroups);
}

TEST(HostRun, waves_that_do_not_end_and_code_without_semantics_are_named) {
  HostRuns endless("L1:\ns_add_u32 s10, s10, 1\ns_cmp_lg_u32 s10, s10\ns_cbranch_scc0 L1");
  const auto cut = endless.run({.most_waves = 100, .threads = 1, .most_steps = 100000});
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().reason.find("steps"), std::string::npos);
  HostRuns unknown("s_sendmsg sendmsg(MSG_INTERRUPT)");
  const auto refused = unknown.run();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().reason.find("s_sendmsg"), std::string::npos);
}

TEST(HostRun, accesses_outside_the_map_are_left_out_and_their_absence_noted) {
  HostRuns host("v_lshlrev_b32 v1, 2, v0\nglobal_store_dword v1, v0, s[4:5]", 1, 32);
  host.state.user_data[5] = 0x55;
  const auto run = host.run();
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->written.empty());
  EXPECT_EQ(run->escapes, 32u);
  ASSERT_FALSE(run->notes.unmapped.empty());
  uint64_t hashed = 0;
  host.guest.map(
      {TestGuest::entry(kWindow, kSize, 0), TestGuest::entry(run->notes.unmapped[0].begin.value, 0x4000, 0)});
  ASSERT_TRUE(host.guest.memory->refresh());
  EXPECT_EQ(check_notes(
                run->notes, *host.guest.memory, [](GuestSpan) { return false; }, hashed),
            memory::NotesCheck::now_mapped);
}

TEST(HostRun, thousands_of_places_are_a_few_pages) {
  // 4,096 groups of 32 lanes, a line each, none beside another.
  HostRuns host(
      "v_lshlrev_b32 v1, 7, v0\ns_lshl_b32 s9, s8, 12\ns_and_b32 s9, s9, 0x3fffff\nv_add_nc_u32 v1, s9, v1\n"
      "global_store_dword v1, v0, s[2:3]\nv_add_nc_u32 v1, 0x200000, v1\nglobal_load_dword v2, v1, s[2:3]\n"
      "v_add_nc_u32 v1, 0x200040, v1\nglobal_store_dword v1, v0, s[2:3]",
      4096, 32);
  const auto run = host.run();
  ASSERT_TRUE(run) << run.error().reason;
  EXPECT_GT(run->written.size(), 30000u);
  EXPECT_LT(run->writable.size(), 3u);
}

TEST(HostRun, why_waves_were_given_up_is_kept_with_what_they_had_read) {
  HostRuns host("L1:\ns_load_dword s10, s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc0 L1");
  const auto cut = host.run({.most_waves = 100, .threads = 1, .most_steps = 100000});
  ASSERT_FALSE(cut);
  ASSERT_EQ(cut.error().notes.read.size(), 1u);
  EXPECT_EQ(cut.error().notes.read[0].span, (GuestSpan{{kWindow + kIn}, {64}}));
}

TEST(AddressSlice, keeps_what_places_and_flow_depend_on) {
  const auto uses = [](const std::string& text) {
    const auto program = shader::testing::program_of(shader::testing::assemble(text, 32));
    std::string out;
    for (const auto use : interpret::address_slice(program)) {
      out += use == interpret::StepUse::whole ? 'w' : use == interpret::StepUse::none ? '-' : 'p';
    }
    return out;
  };
  // Data is left out, places are kept.
  EXPECT_EQ(uses("v_add_nc_u32 v1, v0, v0\nv_add_nc_u32 v2, v1, v1\nv_mul_lo_u32 v3, v2, v2\n"
                 "global_store_dword v1, v3, s[0:1]"),
            "w--pw");
  // A loaded place makes the load whole; a register used again is not what it was before.
  EXPECT_EQ(uses("global_load_dword v2, v0, s[0:1]\nglobal_store_dword v2, v0, s[2:3]\n"
                 "global_load_dword v2, v0, s[0:1]\nv_mov_b32 v2, v0\nglobal_store_dword v2, v0, s[2:3]"),
            "wppwpw");
  // Not so once lanes were switched off: an earlier value may be what a lane still has.
  EXPECT_EQ(uses("global_load_dword v2, v0, s[0:1]\ns_mov_b32 exec_lo, s4\nv_mov_b32 v2, v0\n"
                 "global_store_dword v2, v0, s[2:3]"),
            "wwwpw");
  // Compares and read lanes decide flow and scalars; LDS is kept whole.
  EXPECT_EQ(uses("v_mul_lo_u32 v1, v0, v0\nv_cmp_eq_u32 vcc_lo, v1, v0\nv_mul_lo_u32 v2, v0, v0\n"
                 "v_readfirstlane_b32 s5, v2\nv_mul_lo_u32 v3, v0, v0\nds_write_b32 v0, v3\nv_mul_lo_u32 v4, v0, v0"),
            "wwwwww-w");
  // Registers by an index: all of it.
  EXPECT_EQ(uses("v_mul_lo_u32 v1, v0, v0\nv_movrels_b32 v2, v1"), "www");
}

// Both ways find the same places, for random arithmetic around loads and stores.
TEST(AddressSlice, random_programs_touch_the_same_places) {
  std::mt19937 random(11);
  const auto vgpr = [&] { return fmt::format("v{}", 1 + random() % 6); };
  const char* const alu[] = {"v_add_nc_u32", "v_sub_nc_u32",  "v_xor_b32", "v_and_b32", "v_or_b32",
                             "v_mul_lo_u32", "v_lshlrev_b32", "v_min_u32", "v_max_i32"};
  for (int round = 0; round < 12; ++round) {
    std::string text;
    for (int i = 1; i <= 6; ++i) text += fmt::format("v_mul_lo_u32 v{}, v0, {}\n", i, i * 4);
    for (int i = 0; i < 30; ++i) {
      switch (random() % 8) {
        case 0:
          text += fmt::format("v_and_b32 v7, 0xffffc, {}\nglobal_load_dword {}, v7, s[2:3]\ns_waitcnt vmcnt(0)\n",
                              vgpr(), vgpr());
          break;
        case 1:
          text += fmt::format("v_and_b32 v7, 0xffffc, {}\nglobal_store_dword v7, {}, s[4:5]\n", vgpr(), vgpr());
          break;
        case 2:
          text += fmt::format(
              "v_cmp_gt_u32 vcc_lo, {}, {}\ns_and_saveexec_b32 s20, vcc_lo\n{} {}, {}, {}\ns_mov_b32 exec_lo, s20\n",
              vgpr(), vgpr(), alu[random() % std::size(alu)], vgpr(), vgpr(), vgpr());
          break;
        default:
          text += fmt::format("{} {}, {}, {}\n", alu[random() % std::size(alu)], vgpr(), vgpr(), vgpr());
      }
    }
    HostRuns host(text, 2, 32);
    for (uint64_t i = 0; i < 0x40000; ++i) host.guest.set_word(kIn, i, static_cast<uint32_t>(random()));
    const auto part = host.run(), whole = host.run({.most_waves = kMostDispatchWaves, .threads = 1, .whole = true});
    ASSERT_TRUE(part && whole) << text;
    EXPECT_EQ(offsets(part->written), offsets(whole->written)) << text;
    EXPECT_LE(part->steps, whole->steps);
  }
}

TEST(HostMemory, a_run_that_touches_everything_is_given_up) {
  TestGuest guest(512ull << 20);
  guest.map({TestGuest::entry(kWindow, 512ull << 20, 0)});
  ASSERT_TRUE(guest.memory->refresh());
  PageSnapshots snapshots(*guest.memory);
  HostMemory memory(snapshots);
  uint64_t page = 0;
  for (; page < 32768 && memory.failed() == nullptr; ++page) memory.touch(kWindow + page * kHostPage, 4, true);
  EXPECT_EQ(page, PageSnapshots::kMostPages + 1);
  EXPECT_FALSE(memory.touch(UINT64_MAX - 1, 16, false));
}

}  // namespace
}  // namespace orrery::dispatch
