// orrery-gpu as a process of its own: work, restart after SIGKILL, and every way it ends.
#include <signal.h>

#include <algorithm>

#include "gpu-service/vulkan/physical_device.hpp"
#include "service_process.hpp"

namespace orrery::service::test {
namespace {

using namespace std::chrono_literals;

class Process : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = vulkan::list_devices();
    const bool any = devices && std::any_of(devices->begin(), devices->end(), [](const auto& device) {
                       return device.type == vulkan::DeviceType::cpu && device.usable();
                     });
    if (!any) GTEST_SKIP() << "no software Vulkan device (mesa-vulkan-drivers)";
  }
  protocol::RunOptions headless_{.headless = true, .logical_clock = true};
};

// Takes the messages before the wanted one away.
void expect_eventually(GuestSide& guest, const std::string& wanted) {
  for (int i = 0; i < 100; ++i) {
    const auto said = guest.next();
    if (said == wanted || said.empty()) {
      EXPECT_EQ(said, wanted);
      return;
    }
  }
  ADD_FAILURE() << wanted << " did not come";
}

std::vector<uint32_t> fill(uint64_t address, uint32_t value, uint32_t size) {
  return {0xc0055000, 0xc0300000, value, 0, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), size};
}

TEST_F(Process, it_does_work_and_ends_with_zero_when_asked) {
  GuestSide guest;
  ServiceProcess service(guest, 1, headless_);
  ASSERT_TRUE(service.greeting()) << service.greeting().error().describe();
  guest.submit(fill(kData, 0x12345678, 4096));
  EXPECT_EQ(guest.next(), "retired 1");
  EXPECT_EQ(guest.u32(kData + 4092), 0x12345678u);
  EXPECT_EQ(guest.u32(kData + 4096), 0u);
  guest.flip(0);
  EXPECT_EQ(guest.next(), "flip done 2");
  guest.shutdown();
  EXPECT_EQ(service.wait(20s), 0);
}

TEST_F(Process, a_program_at_address_zero_is_refused_by_name) {
  GuestSide guest;
  ServiceProcess service(guest, 1, headless_);
  guest.submit({0xc0031500, 1, 1, 1, 0x41});
  EXPECT_TRUE(guest.next().starts_with("refusal "));
  expect_eventually(guest, "retired 1");
  guest.shutdown();
  EXPECT_EQ(service.wait(20s), 0);
}

TEST_F(Process, killed_lives_are_followed_by_lives_that_go_on) {
  GuestSide guest;
  for (uint32_t life = 1; life <= 4; ++life) {
    ServiceProcess service(guest, life, headless_);
    ASSERT_TRUE(service.greeting());
    const auto sequence = guest.submit(fill(kData, life, 64));
    expect_eventually(guest, fmt::format("retired {}", sequence));
    EXPECT_EQ(guest.u32(kData), life);
    guest.submit(wait_for(kData, life + 1), 1);  // stuck when it is killed
    service.signal(SIGKILL);
    EXPECT_EQ(service.wait(20s), 128 + SIGKILL);
  }
  // Life 5 finds the waits that are left; a wait may have been satisfied in the life that wrote its label.
  ServiceProcess service(guest, 5, headless_);
  for (uint32_t value = 2; value <= 5; ++value) {
    guest.put(kData, value);
    const uint64_t sequence = 2 * (value - 1);
    if (!guest.retired(sequence)) expect_eventually(guest, fmt::format("retired {}", sequence));
  }
  guest.shutdown();
  EXPECT_EQ(service.wait(20s), 0);
  // A wait that was only waited for when its life was killed may count as either.
  EXPECT_EQ(guest.ledger().entries.first_time.load() + guest.ledger().entries.replayed.load(), 8u);
}

TEST_F(Process, it_ends_when_the_guest_process_hangs_up) {
  GuestSide guest;
  ServiceProcess service(guest, 1, headless_);
  ASSERT_TRUE(service.greeting());
  guest.submit(wait_for(kData, 1));
  service.hang_up();
  EXPECT_EQ(service.wait(10s), 74);
}

TEST_F(Process, it_ends_with_zero_on_sigterm) {
  GuestSide guest;
  ServiceProcess service(guest, 1, headless_);
  ASSERT_TRUE(service.greeting());
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait(10s), 0);
}

TEST_F(Process, garbage_in_the_ring_ends_it_by_name) {
  GuestSide guest;
  ServiceProcess service(guest, 1, headless_);
  ASSERT_TRUE(service.greeting());
  const std::vector<std::byte> garbage(40, std::byte{0xff});
  guest.push(garbage);
  EXPECT_TRUE(guest.next().starts_with("refusal message: "));
  EXPECT_EQ(service.wait(10s), 72);
}

TEST_F(Process, without_a_display_work_is_done_and_the_first_flip_ends_it_by_its_own_code) {
  GuestSide guest;
  ServiceProcess service(guest, 1, {.headless = false});
  ASSERT_TRUE(service.greeting()) << service.greeting().error().describe();
  guest.submit(fill(kData, 0x12345678, 4096));
  expect_eventually(guest, "retired 1");
  EXPECT_EQ(guest.u32(kData), 0x12345678u);
  guest.flip(0);
  EXPECT_EQ(service.wait(20s), static_cast<int>(ExitCode::no_display));
}

TEST_F(Process, a_device_whose_work_does_not_end_is_given_up_and_the_process_ends) {
  GuestSide guest;
  // s_cmp_eq_u32 s0, 0; s_cbranch_scc1 back to it; s_endpgm
  const uint32_t loop[] = {0xbf068000, 0xbf85fffe, 0xbf810000};
  for (uint32_t i = 0; i < 3; ++i) guest.put(kData + 0x1000 + 4 * i, loop[i]);
  ServiceProcess service(guest, 1, headless_, {"--patience", "1"});
  ASSERT_TRUE(service.greeting()) << service.greeting().error().describe();
  constexpr uint32_t kProgram = (kData + 0x1000) >> 8;
  // Many groups: a driver that cuts loops off needs long for them too.
  guest.submit({0xc0027600, 0x20c,   kProgram,   0,           //
                0xc0027600, 0x212,   0x002c0000, 1u << 1,     // one user register
                0xc0037600, 0x207,   32,         1,       1,  //
                0xc0017600, 0x240,   0,                       //
                0xc0031500, 2000000, 1,          1,       0x8005});
  EXPECT_EQ(service.wait(60s), static_cast<int>(ExitCode::device_lost));
  EXPECT_FALSE(guest.retired(1));
  EXPECT_EQ(guest.rest(), std::vector<std::string>{});
}

}  // namespace
}  // namespace orrery::service::test
