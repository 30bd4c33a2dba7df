#include "guest-host/cpu/guest_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <csignal>

#include "guest-host/end_signals.hpp"

namespace orrery::cpu {
namespace {

struct Bench {
  std::unique_ptr<memory::GuestMemory> memory = std::move(*memory::GuestMemory::create(Bytes{64ull << 20}));
  Refusals refusals;
  GuestProcess process{*memory, refusals, FsPolicy::arch_prctl};
};

TEST(GuestProcess, an_address_is_named_by_the_module_that_holds_it) {
  Bench b;
  EXPECT_EQ(b.process.module_at(GuestAddress{0x1000}), nullptr);
  b.process.add_module({"eboot.bin", GuestAddress{0x1000}, GuestAddress{0x2000}});
  b.process.add_module({"plugin.prx", GuestAddress{0x2000}, GuestAddress{0x3000}});
  EXPECT_EQ(b.process.describe(GuestAddress{0xfff}), "0xfff");
  EXPECT_EQ(b.process.describe(GuestAddress{0x1fff}), "eboot.bin+0xfff");
  EXPECT_EQ(b.process.describe(GuestAddress{0x2000}), "plugin.prx+0x0");
  EXPECT_EQ(b.process.describe(GuestAddress{0x3000}), "0x3000");
}

// SIGALRM, as the alarm of a stuck end gives it.
[[noreturn]] void be_stuck(GuestProcess& process) {
  watch_end_signals(process);
  ::kill(::getpid(), SIGALRM);
  for (;;) ::pause();
}

TEST(GuestProcess, a_fault_whose_report_is_stuck_ends_the_process_as_a_fault) {
  Bench b;
  EXPECT_EXIT(be_stuck(b.process), testing::ExitedWithCode(static_cast<int>(ExitCode::guest_fault)), "");
}

TEST(GuestProcess, an_end_that_is_stuck_keeps_the_title_s_exit_code) {
  Bench b;
  b.process.end({7});
  b.process.end({8});
  EXPECT_EXIT(be_stuck(b.process), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace orrery::cpu
