// Several lives of the service over one journal.
#include "guest_side.hpp"

namespace orrery::service::test {
namespace {

TEST(Restart, a_new_life_runs_what_an_earlier_one_left_open_once) {
  GuestSide guest;
  // Submitted before any service was there.
  guest.submit(write_data(kData, 1), 0, false);
  guest.submit(write_data(kData, 2), 0, false);
  guest.start(2);
  // The same entries announced again, as a guest process does that did not know what the old life had read.
  guest.announce(1);
  guest.announce(2);
  EXPECT_EQ(guest.next(), "retired 1");
  EXPECT_EQ(guest.next(), "retired 2");
  guest.submit(write_data(kData, 3));
  EXPECT_EQ(guest.next(), "retired 3");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  // No life had begun them.
  EXPECT_EQ(guest.ledger().entries.replayed.load(), 0u);
  EXPECT_EQ(guest.ledger().entries.first_time.load(), 3u);
  EXPECT_EQ(guest.u32(kData), 3u);
  EXPECT_TRUE(guest.rest().empty());
}

TEST(Restart, registers_survive_a_life) {
  GuestSide guest;
  guest.start();
  guest.submit({0xc0021100, 1, static_cast<uint32_t>(kData), static_cast<uint32_t>(kData >> 32)});
  EXPECT_EQ(guest.next(), "retired 1");
  guest.term = true;
  EXPECT_TRUE(guest.end());
  guest.start(2);
  // The arguments' base comes from the first life; the executor's refusal shows that they were found.
  guest.submit({0xc0011600, 0, 0x41});
  EXPECT_EQ(guest.next(), "refusal program: this executor runs no programs");
  EXPECT_EQ(guest.next(), "retired 2");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(Restart, a_lost_device_ends_the_life_by_name_and_the_next_one_runs_the_submission) {
  GuestSide guest;
  guest.lose_device = true;
  guest.start();
  const std::vector<uint32_t> fill{
      0xc0055000, 0xc0300000, 5, 0, static_cast<uint32_t>(kData), static_cast<uint32_t>(kData >> 32), 4};
  guest.submit(fill);
  const auto ended = guest.end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ExitCode::device_lost);
  EXPECT_FALSE(guest.retired(1));
  EXPECT_EQ(guest.status().current_sequence.load(), 1u);
  guest.lose_device = false;
  guest.start(2);
  EXPECT_EQ(guest.next(), "retired 1");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  EXPECT_EQ(guest.u32(kData), 5u);
}

TEST(Restart, flips_left_open_are_shown_by_the_next_life) {
  GuestSide guest;
  guest.put(kData, 0xff0000aa);
  guest.start();
  guest.term = true;
  EXPECT_TRUE(guest.end());
  guest.flip(7);
  guest.start(2);
  EXPECT_EQ(guest.next(), "flip done 1");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
  EXPECT_EQ(guest.presenter.shown(), (std::vector<std::pair<uint64_t, uint32_t>>{{7, 0xffaa0000}}));
}

}  // namespace
}  // namespace orrery::service::test
