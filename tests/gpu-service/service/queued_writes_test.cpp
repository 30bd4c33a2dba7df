#include <chrono>

#include "guest_side.hpp"

namespace orrery::service::test {
namespace {

using namespace std::chrono_literals;

std::vector<uint32_t> both(std::vector<uint32_t> a, const std::vector<uint32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
std::vector<uint32_t> fill(uint64_t address, uint32_t size) {
  return {0xc0055000, 0xc0300000, 7, 0, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), size};
}

TEST(QueuedWrites, are_told_while_the_command_processor_works) {
  GuestSide guest;
  guest.device_busy = true;
  guest.start();
  // The main thread waits for the device before the second label; the third submission has not even been taken.
  guest.submit(both(fill(kData + 0x100, 64), write_data(kData, 1)));
  guest.submit(write_data(kData + 8, 2), 1);
  EXPECT_EQ(guest.ask(), "spans: 0x200000000+4 by 1 0x200000008+4 by 2 0x200000100+64 by 1");
  EXPECT_EQ(guest.ask(1), "spans: 0x200000000+4 by 1 0x200000100+64 by 1");
  EXPECT_FALSE(guest.retired(1));
  guest.device_busy = false;
  EXPECT_EQ(guest.next(), "retired 1");
  EXPECT_EQ(guest.next(), "retired 2");
  EXPECT_EQ(guest.ask(), "spans:");
  guest.shutdown();
  EXPECT_TRUE(guest.end());
}

TEST(QueuedWrites, count_submissions_that_nobody_announced) {
  GuestSide guest;
  guest.device_busy = true;
  guest.start();
  guest.submit(both(fill(kData + 0x100, 64), write_data(kData, 1)));
  guest.submit(write_data(kData + 0x10, 1), 0, false);
  EXPECT_EQ(guest.ask(), "spans: 0x200000000+4 by 1 0x200000010+4 by 2 0x200000100+64 by 1");
  guest.device_busy = false;
}

TEST(QueuedWrites, of_a_dispatch_that_tells_nothing_are_unbounded_with_its_reason) {
  GuestSide guest;
  guest.start();
  guest.submit(wait_for(kData, 1));
  guest.submit(both({0xc0017600, 0x20c, 0x123}, {0xc0031500, 1, 1, 1, 0x8001}));
  EXPECT_EQ(guest.ask(1), "spans:");
  EXPECT_EQ(guest.ask(), "unbounded up to 2: submission 2: program 0x12300: program 0x12300 tells nothing");
  guest.put(kData, 1);
}

TEST(QueuedWrites, of_a_new_life_begin_with_the_registers_that_the_last_one_saved) {
  GuestSide guest;
  guest.start();
  guest.submit({0xc0017600, 0x20c, 0x123});
  EXPECT_EQ(guest.next(), "retired 1");
  guest.submit(both(wait_for(kData, 1), {0xc0031500, 1, 1, 1, 0x8001}));
  guest.gone = true;
  EXPECT_FALSE(guest.end());
  guest.start(2);
  EXPECT_EQ(guest.ask(), "unbounded up to 2: submission 2: program 0x12300: program 0x12300 tells nothing");
}

TEST(QueuedWrites, what_a_submission_read_too_early_is_read_again_when_it_has_run) {
  GuestSide guest;
  guest.start();
  // Both wait for the CPU, which meanwhile changes the commands that the first one enters.
  guest.put(kData + 0x100, 0xc0017600);
  guest.put(kData + 0x104, 0x20c);
  guest.put(kData + 0x108, 0x111);
  guest.submit(both(wait_for(kData, 1),
                    {0xc0023f00, static_cast<uint32_t>(kData + 0x100), static_cast<uint32_t>(kData >> 32), 3}));
  guest.submit(both(wait_for(kData + 8, 1), {0xc0031500, 1, 1, 1, 0x8001}));
  EXPECT_NE(guest.ask(1).find("it reads commands behind a wait for the CPU"), std::string::npos);
  guest.put(kData + 0x108, 0x222);
  guest.put(kData, 1);
  EXPECT_EQ(guest.next(), "retired 1");
  const std::string now = guest.ask();
  EXPECT_NE(now.find("program 0x22200"), std::string::npos) << now;
  guest.put(kData + 8, 1);
}

TEST(QueuedWrites, garbage_among_the_questions_ends_the_life_by_name) {
  GuestSide guest;
  guest.start();
  const std::array<std::byte, 24> garbage{std::byte{0xff}, std::byte{0x33}};
  ASSERT_TRUE(guest.questions->push(garbage, 1s));
  const auto ended = guest.end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ExitCode::protocol_mismatch);
}

}  // namespace
}  // namespace orrery::service::test
