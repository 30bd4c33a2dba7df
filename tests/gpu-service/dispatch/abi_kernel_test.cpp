#include "gpu-service/dispatch/traced_buffers.hpp"
#include "tests/gpu-service/dispatch/executor_fixture.hpp"

namespace orrery::dispatch {
namespace {

INSTANTIATE_TEST_SUITE_P(Arena, Executing, every_form(), form_name);

TEST_P(Executing, a_device_addressed_program_reads_and_writes_guest_memory) {
  for (uint32_t i = 0; i < 1000; ++i) guest.set_word(kDataOffset, i, i * 3);
  auto state = launch(program(kPageCopy), 32);
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x100000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x100000, i), i * 3 + 1) << i;
  EXPECT_EQ(guest.word(kDataOffset + 0x100000, 1024), 0u);
  EXPECT_EQ(executor->counters().dispatches, 1u);
}

TEST_P(Executing, later_work_sees_earlier_work) {
  for (uint32_t i = 0; i < 64; ++i) guest.set_word(kDataOffset, i, i);
  const auto code = program(kPageCopy);
  constexpr uint32_t kSteps = 600;  // more than one batch
  for (uint32_t step = 0; step < kSteps; ++step) {
    auto state = launch(code, 2);
    set_address(state, 0, kData + (step % 2) * 0x4000);
    set_address(state, 2, kData + ((step + 1) % 2) * 0x4000);
    ASSERT_EQ(text_of(executor->dispatch(state)), "");
  }
  EXPECT_EQ(text_of(finished()), "");
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(guest.word(kDataOffset, i), i + kSteps);
  EXPECT_GE(executor->counters().submissions, 3u);
}

TEST_P(Executing, accesses_outside_the_map_are_dropped_and_reported) {
  auto state = launch(program(kPageCopy), 1);
  state.queue = 2;
  state.sequence = 77;
  state.packet_offset = 9;
  set_address(state, 0, 0x12'3456'7000);
  set_address(state, 2, kData);
  guest.set_word(kDataOffset, 0, 99);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  const auto found = finished();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "escape");
  EXPECT_NE(found[0].text.find("queue 2, dword 9"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("offset 0x10: loaded from 0x12345670"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("32 accesses"), std::string::npos) << found[0].text;
  EXPECT_EQ(guest.word(kDataOffset, 0), 1u);  // the load gave 0
  EXPECT_EQ(executor->counters().escapes, 32u);

  set_address(state, 0, kData);
  set_address(state, 2, 1ull << 41);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_NE(text_of(finished()).find("stored to 0x200000000"), std::string::npos);
  EXPECT_EQ(text_of(finished()), "") << "a report is handed out once";
}

TEST_P(Executing, the_edge_of_the_map_is_exact) {
  // The last page; the 33rd thread's word lies behind it.
  auto state = launch(program(kPageCopy), 2);
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x400000 - 32 * 4);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_NE(text_of(finished()).find("(32 accesses were dropped)"), std::string::npos);
  EXPECT_EQ(guest.word(kDataOffset + 0x400000 - 4), 1u);
  EXPECT_EQ(guest.word(kDataOffset + 0x400000), 0u) << "the arena behind the mapping is not the guest's";
}

TEST_P(Executing, a_page_mapped_in_part_is_out_of_reach) {
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x5000, kDataOffset)});
  ASSERT_TRUE(executor->acquire());
  auto state = launch(program(kPageCopy), 1);
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x4000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_NE(text_of(finished()).find("stored to 0x4000004000"), std::string::npos);
  EXPECT_EQ(guest.word(kDataOffset + 0x4000), 0u);
}

TEST_P(Executing, a_new_map_moves_the_pages) {
  auto state = launch(program(kPageCopy), 1);
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x4000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  // The same guest address shows another part of the arena; what was recorded still goes to the old one.
  const uint64_t other = kDataOffset + 0x1000000;
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x8000, other)});
  ASSERT_TRUE(executor->acquire());
  EXPECT_EQ(guest.word(kDataOffset + 0x4000), 1u);
  EXPECT_EQ(guest.word(other + 0x4000), 0u);
  guest.set_word(other, 0, 41);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(other + 0x4000), 42u);
  EXPECT_EQ(guest.word(kDataOffset + 0x4000), 1u);
  // Nothing is left where the old map went further.
  set_address(state, 2, kData + 0x8000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_NE(text_of(finished()).find("escape"), std::string::npos);
}

TEST_P(Executing, bound_buffers_are_read_and_written_at_any_offset) {
  for (const uint64_t offset : {0x0, 0x4, 0x14, 0x3ffc}) {
    for (uint32_t i = 0; i < 100; ++i) guest.set_word(kDataOffset + offset, i, i + 7);
    auto state = launch(program(kBoundAdd), 4);
    set_buffer(state, 0, kData + offset, 400);
    set_buffer(state, 4, kData + 0x100000 + offset, 320);  // the last 20 elements are out of bounds
    state.user_data[8] = 1000;
    EXPECT_EQ(text_of(executor->dispatch(state)), "");
    EXPECT_EQ(text_of(finished()), "");
    for (uint32_t i = 0; i < 80; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x100000 + offset, i), i + 1007);
    EXPECT_EQ(guest.word(kDataOffset + 0x100000 + offset, 80), 0u);
    std::memset(guest.guest_bytes(kDataOffset + 0x100000), 0, 0x8000);
  }
  EXPECT_EQ(executor->counters().bound, 4u);
}

TEST_P(Executing, the_same_dispatch_is_traced_once_until_its_range_is_unmapped) {
  auto state = launch(program(kBoundAdd), 1);
  set_buffer(state, 0, kData, 128);
  set_buffer(state, 4, kData + 0x8000, 128);
  for (uint32_t n = 1; n <= 7; ++n) {
    state.user_data[8] = 1;
    state.sequence = n;
    EXPECT_EQ(text_of(executor->dispatch(state)), "");
  }
  EXPECT_EQ(executor->trace_counters().hits, 6u);
  EXPECT_EQ(text_of(finished()), "");
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x8000, kDataOffset)});
  ASSERT_TRUE(executor->acquire());
  (void)executor->dispatch(state);
  EXPECT_EQ(executor->trace_counters().hits, 6u);
  EXPECT_EQ(executor->trace_counters().misses[static_cast<size_t>(TraceMiss::no_longer_mapped)], 1u);
  EXPECT_EQ(executor->counters().bound, 7u);
  (void)finished();
}

TEST_P(Executing, empty_buffers_bind_and_hold_nothing) {
  auto state = launch(program(kBoundAdd), 1);
  set_buffer(state, 0, 0, 0);
  set_buffer(state, 4, kData, 8);
  state.user_data[8] = 5;
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(kDataOffset, 0), 5u);
  EXPECT_EQ(guest.word(kDataOffset, 1), 5u);
  EXPECT_EQ(guest.word(kDataOffset, 2), 0u);
}

TEST_P(Executing, what_cannot_be_bound_is_device_addressed) {
  // Two touching pages from different places of the arena: contiguous for the guest, not for a binding.
  guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x4000, kDataOffset),
             TestGuest::entry(kData + 0x4000, 0x4000, kDataOffset + 0x800000),
             TestGuest::entry(kData + 0x8000, 0x4000, kDataOffset + 0x4000)});
  ASSERT_TRUE(executor->acquire());
  for (uint32_t i = 0; i < 16; ++i) guest.set_word(kDataOffset + 0x3fc0, i, i);
  for (uint32_t i = 0; i < 16; ++i) guest.set_word(kDataOffset + 0x800000, i, i + 16);
  auto state = launch(program(kBoundAdd), 1);
  set_buffer(state, 0, kData + 0x3fc0, 128);
  // By address the test kernel takes its destination from user data 2, 3: the words where the size of buffer 0 is.
  set_buffer(state, 4, kData + 0x8000, 128);
  state.user_data[2] = static_cast<uint32_t>(kData + 0x8000);
  state.user_data[3] = static_cast<uint32_t>((kData + 0x8000) >> 32);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(guest.word(kDataOffset + 0x4000, i), i + 1);
  EXPECT_EQ(executor->counters().device_addressed, 1u);
  EXPECT_EQ(executor->counters().bound, 0u);
}

TEST_P(Executing, partial_groups_and_later_starts_reach_the_module) {
  auto state = launch(program(kPageCopy), 0);
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x4000);
  state.initiator = kWave32 | kThreadDimensions;
  state.groups = {100, 1, 1};
  state.start = {2, 0, 0};
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(kDataOffset + 0x4000, 63), 0u);
  EXPECT_EQ(guest.word(kDataOffset + 0x4000, 64), 1u);
  EXPECT_EQ(guest.word(kDataOffset + 0x4000, 99), 1u);
  EXPECT_EQ(guest.word(kDataOffset + 0x4000, 100), 0u);
}

TEST_P(Executing, more_groups_than_one_dispatch_takes_are_split) {
  const uint32_t most = device->facts().max_groups[0];
  if (most > 1 << 20) GTEST_SKIP() << "this device takes " << most << " groups at once";
  // Words that lie in the map are written, the others escape: only the last groups are inside.
  auto state = launch(program(kPageCopy), most + 3);
  set_address(state, 0, kData);
  set_address(state, 2, kData - static_cast<uint64_t>(most) * 32 * 4);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_NE(text_of(finished()).find("escape"), std::string::npos);
  for (uint32_t i = 0; i < 96; ++i) ASSERT_EQ(guest.word(kDataOffset, i), 1u) << i;
}

TEST_P(Executing, a_dispatch_of_no_groups_does_nothing) {
  EXPECT_EQ(text_of(executor->dispatch(launch({0}, 0))), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(executor->counters().dispatches, 0u);
}

TEST_P(Executing, bad_dispatches_are_refused_by_name_and_the_rest_goes_on) {
  const auto refusal_of = [&](DispatchState state) { return text_of(executor->dispatch(state)); };
  EXPECT_NE(refusal_of(launch({0}, 1)).find("the program address is 0"), std::string::npos);
  EXPECT_NE(refusal_of(launch({0x5000}, 1)).find("0x5000 is not mapped"), std::string::npos);
  EXPECT_NE(refusal_of(launch({UINT64_MAX & ~255ull}, 1)).find("is not mapped"), std::string::npos);
  auto state = launch(program(kPageCopy), 1);
  state.group_size = {0, 1, 1};
  EXPECT_NE(refusal_of(state).find("0 threads"), std::string::npos);
  state.group_size = {2048, 1, 1};
  EXPECT_NE(refusal_of(state).find("2048 x 1 x 1"), std::string::npos);
  state.group_size = {32, 1, 1};
  state.rsrc2 = 129u << 15;
  EXPECT_NE(refusal_of(state).find("66048 bytes of LDS"), std::string::npos);
  state.rsrc2 = 1;
  EXPECT_NE(refusal_of(state).find("TMPRING_SIZE"), std::string::npos);
  state.rsrc2 = 0;
  state.groups = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  EXPECT_NE(refusal_of(state).find("4294967295"), std::string::npos);
  EXPECT_EQ(executor->counters().refused, 8u);

  state.groups = {1, 1, 1};
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x4000);
  EXPECT_EQ(refusal_of(state), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(kDataOffset + 0x4000), 1u);
}

TEST_P(Executing, a_refused_program_is_explained_once) {
  const auto code = program(kRefused);
  const auto first = executor->dispatch(launch(code, 1));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].kind, "program");
  EXPECT_NE(first[1].text.find("offset 0x4: s_test_b32: no semantics"), std::string::npos) << first[1].text;
  const auto second = executor->dispatch(launch(code, 1));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(second[0].text.find("refused as before"), std::string::npos);
  EXPECT_EQ(executor->counters().programs_refused, 1u);
  const auto unreadable = program(kUnreadable);
  EXPECT_NE(text_of(executor->dispatch(launch(unreadable, 1))).find("reserved encoding"), std::string::npos);
  EXPECT_NE(text_of(executor->dispatch(launch(unreadable, 1))).find("as before"), std::string::npos);
}

TEST_P(Executing, a_program_that_the_guest_rewrote_is_read_again) {
  const auto code = program(kRefused);
  EXPECT_FALSE(executor->dispatch(launch(code, 1)).empty());
  guest.set_word(kCodeOffset + (code.value - kCode), 0, kPageCopy);
  auto state = launch(code, 1);
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x4000);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(guest.word(kDataOffset + 0x4000), 1u);
}

TEST_P(Executing, a_program_that_earlier_work_rewrites_is_named) {
  // The copy adds one to the word it copies: it writes kPageCopy + 1 over the second program, which is recorded behind
  // it.
  const auto victim = program(kPageCopy);
  auto state = launch(program(kPageCopy), 1);
  guest.set_word(kDataOffset, 0, kRefused - 1);
  set_address(state, 0, kData);
  set_address(state, 2, victim.value);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  auto second = launch(victim, 1);
  set_address(second, 0, kData);
  set_address(second, 2, kData + 0x4000);
  EXPECT_EQ(text_of(executor->dispatch(second)), "");
  EXPECT_NE(text_of(finished()).find("was rewritten while work that uses it was recorded"), std::string::npos);
}

TEST_P(Executing, private_memory_larger_than_fits_at_once_runs_in_parts) {
  // 1 KiB a wave runs whole; with 8191 KiB 32 groups fill what may run at once, so that 70 groups run in three parts.
  for (const uint32_t kib : {1u, 8191u}) {
    auto state = launch(program(kPrivateSum, kib), 70);
    const uint32_t dwords = kib * 256 / 32;
    state.rsrc2 = 1;
    state.tmpring_size = kib << 12;
    set_address(state, 2, kData);
    state.user_data[4] = dwords;
    EXPECT_EQ(text_of(executor->dispatch(state)), "");
    EXPECT_EQ(text_of(finished()), "");
    for (uint32_t thread = 0; thread < 70 * 32; ++thread) {
      uint32_t wanted = 0;
      for (uint32_t i = 0; i < dwords; i += 97) wanted += thread * 3 + i;
      ASSERT_EQ(guest.word(kDataOffset, thread), wanted) << kib << " " << thread;
    }
  }
}

TEST_P(Executing, loops_that_the_driver_cuts_off_are_named) {
  auto state = launch(program(kSpin), 1);
  set_address(state, 0, kData);
  state.user_data[2] = 1000;
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  const auto found = finished();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "loop");
  EXPECT_EQ(executor->counters().escapes, 0u);
}

TEST_P(Executing, work_that_does_not_end_is_given_up) {
  if (GetParam() != ArenaForm::imported) GTEST_SKIP() << "a mirrored program can't be ended from outside";
  // An H200 did not see the CPU's word while it ran, and would spin until the process is killed.
  if (device->facts().type != vulkan::DeviceType::cpu) GTEST_SKIP() << "only a CPU device sees the word that ends it";
  auto made = DispatchExecutor::create(
      *device, *guest.memory, {.import_arena = true, .patience = std::chrono::seconds(1)}, abi_kernel_translator());
  ASSERT_TRUE(made);
  ASSERT_TRUE((*made)->acquire());
  // Many groups: a driver that ends loops by itself needs long for them too.
  auto state = launch(program(kSpin), 60000);
  set_address(state, 0, kData);
  EXPECT_EQ(text_of((*made)->dispatch(state)), "");
  const auto found = (*made)->finish();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("did not finish"), std::string::npos) << found.error().message;
  // From here on nothing more is done.
  const auto refused = (*made)->dispatch(state);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].kind, "device");
  EXPECT_EQ((*made)->fill({kData}, {4}, 0)[0].kind, "device");
  EXPECT_FALSE((*made)->acquire());
  guest.set_word(kDataOffset, 0, 1);
}

TEST_P(Executing, translations_are_made_once_per_program) {
  const auto code = program(kPageCopy, 5);
  auto state = launch(code, 1);
  set_address(state, 0, kData);
  set_address(state, 2, kData + 0x4000);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(text_of(executor->dispatch(state)), "");
  // The same words elsewhere are the same program.
  state.program = program(kPageCopy, 5);
  EXPECT_EQ(text_of(executor->dispatch(state)), "");
  EXPECT_EQ(text_of(finished()), "");
  EXPECT_EQ(executor->counters().programs, 1u);
  EXPECT_EQ(executor->counters().dispatches, 6u);
}

}  // namespace
}  // namespace orrery::dispatch
