// Real programs by every route: what they store must be the same, and what is told of it must be what they store.
#include <algorithm>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "gpu-service/dispatch/routes.hpp"
#include "gpu-service/dispatch/traced_buffers.hpp"
#include "tests/gpu-service/dispatch/executor_fixture.hpp"
#include "tests/gpu-service/shader/interpret/assembled.hpp"

namespace orrery::dispatch {
namespace {

// A wave folds sixteen words a lane and stores the sum through the table's entry for its group.
constexpr const char* kStream =
    "s_lshl_b32 s9, s8, 4\ns_load_dwordx4 s[12:15], s[0:1], s9\nv_mov_b32 v2, 0\nv_lshlrev_b32 v1, 2, v0\ns_lshl_b32 "
    "s10, s8, 7\n"
    "v_add_nc_u32 v3, s10, v1\ns_mov_b32 s11, 0\nL1:\nglobal_load_dword v4, v3, s[2:3]\ns_waitcnt vmcnt(0)\n"
    "v_add_nc_u32 v2, v2, v4\nv_add_nc_u32 v3, 0x1000, v3\ns_add_u32 s11, s11, 1\ns_cmp_lt_u32 s11, 16\n"
    "s_cbranch_scc1 L1\ns_waitcnt lgkmcnt(0)\nbuffer_store_dword v2, v1, s[12:15], 0 offen";
// The same with the table's entry that user data names.
constexpr const char* kOneEntry =
    "s_lshl_b32 s9, s4, 4\ns_load_dwordx4 s[12:15], s[0:1], s9\nv_lshlrev_b32 v1, 2, v0\ns_lshl_b32 s10, s8, 7\n"
    "v_add_nc_u32 v1, s10, v1\ns_waitcnt lgkmcnt(0)\nbuffer_store_dword v0, v1, s[12:15], 0 offen";

// A lane stores its number and its group's to a texel of the group's row.
constexpr const char* kImageOfGroup =
    "s_lshl_b32 s9, s8, 5\ns_load_dwordx8 s[12:19], s[0:1], s9\nv_mov_b32 v1, 0\nv_add_nc_u32 v2, s8, v0\n"
    "s_waitcnt lgkmcnt(0)\nimage_store v2, v[0:1], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm";
// The same where the program may branch past the access.
constexpr const char* kImagePastBranch =
    "s_and_b32 s9, s8, 1\ns_cmp_eq_u32 s9, s4\ns_cbranch_scc1 L1\ns_lshl_b32 s9, s8, 5\n"
    "s_load_dwordx8 s[12:19], s[0:1], s9\nv_mov_b32 v1, 0\nv_add_nc_u32 v2, s8, v0\ns_waitcnt lgkmcnt(0)\n"
    "image_store v2, v[0:1], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm\nL1:\ns_nop 0";
// A descriptor behind a pointer behind a pointer.
constexpr const char* kChain =
    "s_load_dwordx2 s[10:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_load_dwordx2 s[10:11], s[10:11], 0x0\n"
    "s_waitcnt lgkmcnt(0)\ns_load_dwordx4 s[12:15], s[10:11], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
    "buffer_store_dword v0, v1, s[12:15], 0 offen";

constexpr uint32_t kGroups = 8;

}  // namespace

class Programs : public Executing {
 protected:
  static constexpr uint64_t kTable = kData, kIn = kData + 0x10000, kOut = kData + 0x100000, kUnmapped = 0x50'0000'0000;

  void SetUp() override {
    DeviceTest::SetUp();
    if (device == nullptr) return;
    guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x400000, kDataOffset)});
    make(options());
    for (uint32_t i = 0; i < 0x8000; ++i) guest.set_word(at(kIn), i, i * 7919);
  }
  void make(const ExecutorOptions& wanted) {
    executor.reset();
    auto made = DispatchExecutor::create(*device, *guest.memory, wanted, shader_translator());
    ASSERT_TRUE(made) << made.error().describe();
    executor = std::move(*made);
    ASSERT_TRUE(executor->acquire());
  }
  static uint64_t at(uint64_t address) { return kDataOffset + (address - kData); }
  GuestAddress load(const std::string& text) {
    const auto words = shader::testing::assemble(text, 32);
    const uint64_t place = next_ += 0x400;
    std::memcpy(guest.guest_bytes(kCodeOffset + place), words.data(), words.size() * 4);
    return {kCode + place};
  }
  DispatchState state_of(GuestAddress code) {
    auto state = launch(code, kGroups);
    state.rsrc1 = 0xf0 << 12;
    state.rsrc2 = 8u << 1 | 1u << 7;  // eight user registers, then the group's number in s8
    set_address(state, 0, kTable);
    set_address(state, 2, kIn);
    return state;
  }
  void describe(uint64_t index, uint64_t base, uint32_t bytes) {
    const uint32_t words[] = {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32), bytes, 3u << 28};
    std::memcpy(guest.guest_bytes(at(kTable) + index * 16), words, 16);
  }
  void describe_groups(uint64_t apart) {
    for (uint64_t group = 0; group < kGroups; ++group) describe(group, kOut + group * apart, 128);
  }
  // T#s of rows of 32 texels of 32_UINT, one for each group.
  void describe_rows(uint64_t apart) {
    for (uint64_t group = 0; group < kGroups; ++group) {
      const uint64_t base = (kOut + group * apart) >> 8;
      const uint32_t words[8] = {static_cast<uint32_t>(base),
                                 static_cast<uint32_t>(base >> 32) | 20u << 20 | 3u << 30,
                                 7u | 1u << 31,
                                 0xfacu | 9u << 28,
                                 0,
                                 0,
                                 0,
                                 0};
      std::memcpy(guest.guest_bytes(at(kTable) + group * 32), words, 32);
    }
  }
  void expect_rows(uint64_t apart, uint32_t first, uint32_t step) {
    for (uint32_t group = 0; group < kGroups; ++group) {
      for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t stored = group % step == first ? group + lane : 0;
        ASSERT_EQ(guest.word(at(kOut) + group * apart, lane), stored) << group << " " << lane;
      }
    }
  }
  uint32_t sum(uint32_t group, uint32_t lane) {
    uint32_t value = 0;
    for (uint32_t n = 0; n < 16; ++n) value += guest.word(at(kIn) + group * 128 + n * 0x1000, lane);
    return value;
  }
  void expect_sums(uint64_t apart) {
    for (uint32_t group = 0; group < kGroups; ++group) {
      for (uint32_t lane = 0; lane < 32; ++lane) {
        ASSERT_EQ(guest.word(at(kOut) + group * apart, lane), sum(group, lane)) << group << " " << lane;
      }
    }
  }
  DispatchWrites writes_of(
      const DispatchState& state, const MayChange& may_change = [](memory::GuestSpan) { return false; }) {
    memory::GuestMemory own = guest.memory->another();
    EXPECT_TRUE(own.refresh());
    return executor->writes_of(state, own, may_change);
  }
  // Nothing went wrong, or each line says where.
  static void expect_named(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_NE(line.find("program "), std::string::npos) << line;
  }
  ExecutorOptions without_addressing() const {
    ExecutorOptions wanted = options();
    wanted.device_addressing = false;
    return wanted;
  }

 private:
  uint64_t next_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Arena, Programs, every_form(), form_name);

TEST_P(Programs, a_descriptor_that_only_a_host_run_finds_goes_device_addressed) {
  const auto state = state_of(load(kStream));
  describe_groups(0x1000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  expect_sums(0x1000);
  EXPECT_EQ(executor->counters().device_addressed, 2u);
  EXPECT_EQ(executor->counters().host_runs, 0u);
  const std::string routes = executor->routes_text();
  EXPECT_NE(routes.find("2 device-addressed"), std::string::npos) << routes;
  EXPECT_NE(routes.find("host run passed: a store at "), std::string::npos) << routes;
  EXPECT_NE(routes.find("it may differ from group to group"), std::string::npos) << routes;
  const bool mirrored = executor->coherence() != Coherence::imported;
  EXPECT_EQ(routes.find(" uploaded; ") != std::string::npos, mirrored) << routes;
  EXPECT_EQ(routes.find(" written back; ") != std::string::npos, mirrored) << routes;
  // Its writes are bounded by nothing, and no wave is run to find out.
  const auto writes = writes_of(state);
  EXPECT_NE(writes.unbounded.find("device-addressed: a store at "), std::string::npos) << writes.unbounded;
}

TEST_P(Programs, without_device_addressing_the_host_runs_and_the_device_stores_where_it_found) {
  make(without_addressing());
  const auto state = state_of(load(kStream));
  describe_groups(0x4000);
  EXPECT_EQ(writes_of(state).unbounded, "only a run of its waves on the host will tell");
  for (int n = 0; n < 7; ++n) EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  expect_sums(0x4000);
  EXPECT_EQ(executor->counters().host_runs, 7u);
  EXPECT_EQ(executor->counters().device_addressed, 0u);
  // One run of the waves; the seven dispatches of a cycle are served though the first stores.
  EXPECT_EQ(executor->trace_counters().hits, 6u);
  const auto writes = writes_of(state);
  EXPECT_EQ(writes.unbounded, "");
  // Pages: the device can store to all of each.
  EXPECT_EQ(writes.spans, (std::vector<memory::GuestSpan>{{{kOut}, {kGroups * 0x4000}}}));
  // The table names other places: the waves are run again.
  for (uint64_t group = 0; group < kGroups; ++group) describe(group, kOut + 0x80000 + group * 0x4000, 128);
  ASSERT_TRUE(executor->acquire());
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(at(kOut) + 0x80000, 3), sum(0, 3));
  EXPECT_EQ(executor->counters().escapes, 0u);
}

TEST_P(Programs, workers_run_the_waves_while_the_dispatch_waits) {
  ExecutorOptions wanted = without_addressing();
  wanted.preparation_threads = 2;
  make(wanted);
  const auto state = state_of(load(kStream));
  describe_groups(0x1000);
  std::optional<std::vector<Refusal>> done;
  for (int n = 0; n < 20000 && !(done = executor->try_dispatch(state)); ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(done);
  EXPECT_EQ(text_of(*done), "");
  EXPECT_EQ(text_of(finished()), "");
  expect_sums(0x1000);
  EXPECT_GT(executor->counters().postponed, 0u);
}

TEST_P(Programs, the_preparation_is_served_after_the_queued_writes_ask) {
  make(without_addressing());
  auto state = state_of(load(kOneEntry));
  describe(2, kOut, kGroups * 128);
  state.user_data[4] = 2;
  for (int n = 0; n < 7; ++n) {
    state.user_data[7] = static_cast<uint32_t>(n);  // seven dispatches, each its own
    const auto writes = writes_of(state);
    EXPECT_EQ(writes.unbounded, "");
    EXPECT_EQ(writes.spans, (std::vector<memory::GuestSpan>{{{kOut}, {kGroups * 128}}}));
  }
  EXPECT_EQ(executor->trace_counters().hits, 0u);
  for (int n = 0; n < 7; ++n) {
    state.user_data[7] = static_cast<uint32_t>(n);
    EXPECT_EQ(text_of(executor->dispatch(state)), "");
  }
  EXPECT_EQ(executor->trace_counters().hits, 7u);
  EXPECT_EQ(executor->trace_counters().hits_of_queued_writes, 0u);
  EXPECT_EQ(executor->counters().bound, 7u);
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(at(kOut), 37), 5u);
}

TEST_P(Programs, an_entry_that_user_data_names_stays_bound_and_moves_with_the_table) {
  auto state = state_of(load(kOneEntry));
  state.user_data[4] = 3;
  describe(3, kOut, kGroups * 128);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(at(kOut), 33), 1u);
  describe(3, kOut + 0x8000, kGroups * 128);
  ASSERT_TRUE(executor->acquire());
  EXPECT_EQ(writes_of(state).spans, (std::vector<memory::GuestSpan>{{{kOut + 0x8000}, {kGroups * 128}}}));
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(at(kOut) + 0x8000, 33), 1u);
  EXPECT_EQ(executor->counters().bound, 2u);
  EXPECT_EQ(executor->counters().device_addressed, 0u);
  // A table that queued work may write proves nothing.
  EXPECT_NE(
      writes_of(state, [](memory::GuestSpan span) { return span.begin.value < kIn && span.begin.value >= kTable; })
          .unbounded.find("may write a table"),
      std::string::npos);
}

TEST_P(Programs, an_image_whose_descriptor_differs_from_group_to_group_is_stored_to) {
  const auto state = state_of(load(kImageOfGroup));
  describe_rows(0x1000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  expect_rows(0x1000, 0, 1);
  EXPECT_EQ(executor->counters().device_addressed, 1u);
  const std::string routes = executor->routes_text();
  EXPECT_NE(routes.find("it may differ from group to group"), std::string::npos) << routes;
  EXPECT_NE(writes_of(state).unbounded, "");
  // Where programs may not address the device's memory, the host finds the rows.
  make(without_addressing());
  describe_rows(0x8000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  for (uint32_t group = 1; group < kGroups; ++group) EXPECT_EQ(guest.word(at(kOut) + group * 0x8000, 3), group + 3);
  EXPECT_EQ(executor->counters().host_runs, 1u);
  EXPECT_EQ(executor->counters().escapes, 0u);
}

TEST_P(Programs, an_image_behind_a_branch_is_stored_to_by_the_groups_that_take_it) {
  auto state = state_of(load(kImagePastBranch));
  state.user_data[4] = 1;
  describe_rows(0x1000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  expect_rows(0x1000, 0, 2);
  EXPECT_EQ(executor->counters().device_addressed, 1u);
}

TEST_P(Programs, pointers_that_lead_back_to_themselves_are_named_or_harmless) {
  const auto state = state_of(load(kChain));
  const auto point = [&](uint64_t from, uint64_t to) { std::memcpy(guest.guest_bytes(at(from)), &to, 8); };
  // Table to table to descriptor, as it should be.
  point(kTable, kTable + 0x100);
  point(kTable + 0x100, kTable + 0x200);
  describe(0x20, kOut, 128);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(at(kOut), 5), 5u);
  EXPECT_EQ(executor->counters().bound, 1u);
  // To itself: what lies there is taken for a descriptor, whose buffer begins with its own table.
  point(kTable, kTable);
  for (const uint32_t fourth : {3u << 28, 1u << 28}) {
    const uint32_t rest[] = {4096, fourth};
    std::memcpy(guest.guest_bytes(at(kTable) + 8), rest, 8);
    ASSERT_TRUE(executor->acquire());
    const std::string why = fourth == 3u << 28 ? "descriptors lie in it" : "its bounds check leaves the offset free";
    EXPECT_NE(writes_of(state).unbounded.find(why), std::string::npos) << writes_of(state).unbounded;
    expect_named(text_of(executor->dispatch(state)));
    expect_named(text_of(finished()));
    point(kTable, kTable);
  }
  EXPECT_GE(executor->counters().device_addressed, 1u);
}

// Tables as a broken or hostile title may leave them: a named answer, and the next good one works.
TEST_P(Programs, broken_tables_are_named_or_harmless) {
  auto state = state_of(load(kOneEntry));
  state.user_data[4] = 0;
  const auto run = [&] {
    EXPECT_TRUE(executor->acquire());
    const std::string text = text_of(executor->dispatch(state));
    return text + text_of(finished());
  };
  const auto expect_mapped = [&](const DispatchWrites& writes) {
    EXPECT_TRUE(writes.unbounded.empty() || writes.spans.empty());
    for (const auto& span : writes.spans) EXPECT_TRUE(guest.memory->mapped(span.begin, span.size)) << span.begin.value;
  };
  const uint64_t places[] = {kUnmapped, kData + 0x400000 - 64, kCode, 0, 0xffff'ffff'ffc0, kTable};
  const uint32_t sizes[] = {0, 1, 0x1000, 0x7fffffff, 0xffffffff};
  for (const uint64_t place : places) {
    for (const uint32_t size : sizes) {
      if (place == kCode && size != 0) continue;  // it would overwrite its own code, which is named elsewhere
      for (const uint32_t fourth : {3u << 28, 0u, 1u << 30, 3u << 30 | 3u << 28}) {
        const uint32_t words[] = {static_cast<uint32_t>(place), static_cast<uint32_t>(place >> 32) | 4u << 16, size,
                                  fourth};
        std::memcpy(guest.guest_bytes(at(kTable)), words, 16);
        expect_named(run());
        expect_mapped(writes_of(state));
      }
    }
  }
  // Code for a table: what its words say is taken for a descriptor.
  set_address(state, 0, kCode + 0x400);
  expect_named(run());
  expect_mapped(writes_of(state));
  // A table in the middle of which nothing is mapped, and one that leaves the address space.
  for (const uint64_t table : {kUnmapped, kData + 0x400000 - 8, UINT64_MAX - 7}) {
    set_address(state, 0, table);
    const std::string text = run();
    EXPECT_NE(text.find("program "), std::string::npos) << text;
    EXPECT_NE(writes_of(state).unbounded, "") << table;
  }
  set_address(state, 0, kTable);
  describe(0, kOut, kGroups * 128);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(guest.word(at(kOut), 33), 1u);
}

TEST_P(Programs, a_table_that_is_unmapped_and_mapped_again_all_the_time_is_read_or_named) {
  const std::vector whole{TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x400000, kDataOffset)};
  const std::vector without{TestGuest::entry(kCode, 0x4000, kCodeOffset),
                            TestGuest::entry(kIn, 0x3f0000, kDataOffset + 0x10000)};
  auto state = state_of(load(kOneEntry));
  state.user_data[4] = 0;
  describe(0, kOut, kGroups * 128);
  // Between the question and the dispatch.
  EXPECT_EQ(writes_of(state).unbounded, "");
  guest.map(without);
  ASSERT_TRUE(executor->acquire());
  EXPECT_NE(writes_of(state).unbounded, "");
  std::string gone = text_of(executor->dispatch(state));
  gone += text_of(finished());
  EXPECT_NE(gone.find("program "), std::string::npos) << gone;
  EXPECT_EQ(guest.word(at(kOut), 33), 0u);
  // Whenever the title likes.
  std::atomic<bool> stop{false};
  std::thread title([&] {
    for (uint64_t n = 0; !stop; ++n) guest.map(n % 2 == 0 ? whole : without);
  });
  for (int n = 0; n < 40; ++n) {
    EXPECT_TRUE(executor->acquire());
    expect_named(text_of(executor->dispatch(state)));
    for (const auto& span : writes_of(state).spans) {
      EXPECT_EQ(span, (memory::GuestSpan{{kOut}, {kGroups * 128}}));
    }
    expect_named(text_of(finished()));
  }
  stop = true;
  title.join();
  guest.map(whole);
  ASSERT_TRUE(executor->acquire());
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(at(kOut), 33), 1u);
}

TEST_P(Programs, a_table_that_the_cpu_rewrites_all_the_time_is_never_half_believed) {
  auto state = state_of(load(kOneEntry));
  state.user_data[4] = 0;
  describe(0, kOut, kGroups * 128);
  std::atomic<bool> stop{false};
  std::thread title([&] {
    for (uint64_t n = 0; !stop; ++n) describe(0, kOut + (n % 2) * 0x40000, n % 3 == 0 ? 0x1000 : kGroups * 128);
  });
  for (int n = 0; n < 50; ++n) {
    EXPECT_TRUE(executor->acquire());
    EXPECT_EQ(text_of(executor->dispatch(state)), "");
    const auto writes = writes_of(state);
    for (const auto& span : writes.spans) {
      EXPECT_TRUE(span.begin.value == kOut || span.begin.value == kOut + 0x40000);
      EXPECT_TRUE(span.size.value == 0x1000 || span.size.value == kGroups * 128);
    }
    EXPECT_EQ(text_of(finished()), "");
  }
  stop = true;
  title.join();
}

}  // namespace orrery::dispatch
