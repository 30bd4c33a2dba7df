#include <algorithm>

#include "guest_side.hpp"

namespace orrery::service::test {
namespace {

using Words = std::vector<std::string>;

TEST(Service, submissions_run_and_are_reported_retired) {
  GuestSide guest;
  guest.start();
  guest.submit(write_data(kData, 7));
  EXPECT_EQ(guest.next(), "retired 1");
  EXPECT_EQ(guest.u32(kData), 7u);
  EXPECT_TRUE(guest.retired(1));
  guest.submit(interrupt(9), 3);
  EXPECT_EQ(guest.next(), "event 3 9");
  EXPECT_EQ(guest.next(), "retired 2");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  EXPECT_EQ(guest.ledger().entries.first_time.load(), 2u);
  EXPECT_EQ(guest.ledger().entries.replayed.load(), 0u);
  EXPECT_EQ(guest.status().lives.load(), 1u);
  EXPECT_GT(guest.status().heartbeat.load(), 0u);
}

TEST(Service, a_shutdown_finishes_what_was_submitted_before_it) {
  GuestSide guest;
  guest.start();
  for (uint32_t i = 0; i < 500; ++i) guest.submit(write_data(kData, i));
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  EXPECT_EQ(guest.u32(kData), 499u);
  EXPECT_EQ(guest.ledger().entries.first_time.load(), 500u);
}

TEST(Service, a_shutdown_is_not_held_by_a_wait_that_nobody_satisfies) {
  GuestSide guest;
  guest.start();
  guest.submit(wait_for(kData, 1), 2);
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  EXPECT_EQ(guest.rest(), (Words{"refusal wait: never satisfied: queue 2, dword 0 waits for the 4-byte label at "
                                 "0x200000000: (value & 0xffffffff) == 0x1; it holds 0x0"}));
  EXPECT_FALSE(guest.retired(1));
}

TEST(Service, a_label_written_by_the_cpu_lets_a_queue_go_on) {
  GuestSide guest;
  guest.start();
  guest.submit(wait_for(kData, 1));
  guest.submit(write_data(kData + 8, 1), 1);
  EXPECT_EQ(guest.next(), "retired 2");
  guest.put(kData, 1);
  EXPECT_EQ(guest.next(), "retired 1");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(Service, it_says_that_it_has_settled_when_all_is_done_or_waits_for_the_cpu_and_behind_what_it_did) {
  GuestSide guest;
  guest.start();
  guest.settle(1);
  EXPECT_EQ(guest.next(), "settled 1");
  for (uint32_t i = 0; i < 300; ++i) guest.submit(write_data(kData + 16, i));
  guest.submit(wait_for(kData, 1), 2);
  guest.flip(0);
  guest.settle(2);
  for (uint32_t i = 1; i <= 300; ++i) EXPECT_EQ(guest.next(), fmt::format("retired {}", i));
  EXPECT_EQ(guest.next(), "flip done 302");
  EXPECT_EQ(guest.next(), "settled 2");
  EXPECT_EQ(guest.u32(kData + 16), 299u);
  guest.put(kData, 1);
  guest.settle(3);
  EXPECT_EQ(guest.next(), "retired 301");
  EXPECT_EQ(guest.next(), "settled 3");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(Service, a_flip_is_shown_after_what_is_before_it_and_before_what_is_behind) {
  GuestSide guest;
  guest.start();
  for (uint32_t i = 0; i < 20; ++i) {
    guest.submit(write_data(kData, 0xff000000 | i));
    guest.flip(i);
  }
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  const auto shown = guest.presenter.shown();
  ASSERT_EQ(shown.size(), 20u);
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(shown[i].first, i);
    EXPECT_EQ(shown[i].second, 0xff000000 | i << 16);  // blue
  }
  const auto said = guest.rest();
  EXPECT_EQ(said[0], "retired 1");
  EXPECT_EQ(said[1], "flip done 2");
  EXPECT_EQ(guest.status().flips.load(), 20u);
  EXPECT_EQ(guest.ledger().entries.first_time.load(), 40u);
}

TEST(Service, a_queue_stuck_in_a_wait_does_not_hold_a_flip) {
  GuestSide guest;
  guest.start();
  guest.submit(wait_for(kData + 64, 1), 1);
  guest.submit(write_data(kData, 5));
  guest.flip(0);
  EXPECT_EQ(guest.next(), "retired 2");
  EXPECT_EQ(guest.next(), "flip done 3");
  guest.put(kData + 64, 1);
  EXPECT_EQ(guest.next(), "retired 1");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(Service, a_flip_that_cannot_be_shown_is_refused_by_name_and_done) {
  GuestSide guest;
  guest.start();
  guest.flip(0, 0x1000);
  EXPECT_EQ(guest.next(), "refusal flip: a flip of 512 bytes at 0x1000, which is not mapped");
  EXPECT_EQ(guest.next(), "flip done 1");
  guest.flip(1, kData, 5);
  EXPECT_EQ(guest.next(), "refusal flip: a flip with pixel format 0x5 is not handled (0x8000000000000000 is)");
  EXPECT_EQ(guest.next(), "flip done 2");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(Service, pixels_are_not_read_where_nobody_looks_and_what_is_wrong_is_refused_all_the_same) {
  GuestSide guest;
  guest.presenter.looking = false;
  guest.start();
  guest.submit(write_data(kData, 0xffffffff));
  guest.flip(0);
  EXPECT_EQ(guest.next(), "retired 1");
  EXPECT_EQ(guest.next(), "flip done 2");
  guest.flip(1, 0x1000);
  EXPECT_EQ(guest.next(), "refusal flip: a flip of 512 bytes at 0x1000, which is not mapped");
  EXPECT_EQ(guest.next(), "flip done 3");
  guest.flip(2, kData, 5);
  EXPECT_EQ(guest.next(), "refusal flip: a flip with pixel format 0x5 is not handled (0x8000000000000000 is)");
  EXPECT_EQ(guest.next(), "flip done 4");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  EXPECT_EQ(guest.presenter.shown(), (std::vector<std::pair<uint64_t, uint32_t>>{{0, 0}}));
}

TEST(Service, a_frame_that_cannot_be_kept_is_refused_and_the_title_goes_on) {
  GuestSide guest;
  guest.presenter.error = Error{ExitCode::usage, "no space left", {}};
  guest.start();
  guest.flip(0);
  EXPECT_EQ(guest.next(), "refusal frame: no space left");
  EXPECT_EQ(guest.next(), "flip done 1");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(Service, a_refusal_is_told_once_and_then_at_doubling_counts) {
  GuestSide guest;
  guest.start();
  for (int i = 0; i < 5; ++i) guest.submit({0xc0012400, 3, 2});
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  const auto said = guest.rest();
  const auto refusals =
      std::count(said.begin(), said.end(), "refusal draw: queue 0: this draw is not implemented yet (DRAW_INDIRECT)");
  EXPECT_EQ(refusals, 4);  // 1, 2, 4, and 5 at the end
  EXPECT_EQ(guest.status().refusals.load(), 5u);
}

TEST(Service, garbage_in_the_ring_is_refused_by_name_and_ends_the_life) {
  GuestSide guest;
  guest.start();
  const std::vector<std::byte> garbage(24, std::byte{0xee});
  guest.push(garbage);
  const auto ended = guest.end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ExitCode::protocol_mismatch);
  EXPECT_TRUE(guest.next().starts_with("refusal message: "));
}

TEST(Service, a_damaged_ring_ends_the_life_with_an_error) {
  GuestSide guest;
  guest.start();
  auto* header =
      reinterpret_cast<protocol::RingHeader*>(guest.segment.part(protocol::PartName::guest_to_service).data());
  header->written.store(~0ull);
  header->data_futex.fetch_add(1);
  const auto ended = guest.end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ExitCode::protocol_mismatch);
}

TEST(Service, an_announced_entry_that_is_not_in_the_journal_ends_the_life_with_an_error) {
  GuestSide guest;
  guest.start();
  guest.submit(write_data(kData, 1));
  guest.announce(2);
  const auto ended = guest.end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ExitCode::protocol_mismatch);
}

TEST(Service, it_ends_when_the_guest_process_is_gone_or_sigterm_comes) {
  for (const bool gone : {true, false}) {
    GuestSide guest;
    guest.start();
    guest.submit(wait_for(kData, 1));
    (gone ? guest.gone : guest.term) = true;
    const auto ended = guest.end();
    EXPECT_EQ(ended.has_value(), !gone);
    if (gone) {
      EXPECT_EQ(ended.error().code, ExitCode::peer_gone);
    }
  }
}

TEST(Service, input_and_the_closed_window_are_passed_on) {
  GuestSide guest;
  guest.start(1, true);
  guest.presenter.press = true;
  EXPECT_EQ(guest.next(), "input 10");
  guest.presenter.close = true;
  EXPECT_EQ(guest.next(), "closed");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(Service, a_frame_without_a_window_ends_the_life_with_a_code_of_its_own) {
  GuestSide guest;
  guest.presenter.error = Error{ExitCode::no_display, "no window can be opened", {}};
  guest.start();
  guest.flip(0);
  const auto ended = guest.end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ExitCode::no_display);
  EXPECT_FALSE(guest.retired(1));
}

}  // namespace
}  // namespace orrery::service::test
