#include <gtest/gtest.h>

#include "tests/guest-host/probes/run_guest.hpp"

namespace orrery {
namespace {

constexpr int kGuestFault = 68;

TEST(Fault, a_bad_access_names_module_and_offset_registers_and_the_way_there) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "read-fault"});
    EXPECT_EQ(run.code, kGuestFault) << run.err;
    EXPECT_TRUE(run.complains("memory access violation")) << run.err;
    EXPECT_TRUE(run.complains("at eboot.bin+0x")) << run.err;
    EXPECT_TRUE(run.complains("reading 0x123456")) << run.err;
    EXPECT_TRUE(run.complains("rip 0000000")) << run.err;
    // innermost, which has no frame of its own; middle; main; _start
    EXPECT_TRUE(run.complains("#0 eboot.bin+0x")) << run.err;
    EXPECT_TRUE(run.complains("(on top of the stack)")) << run.err;
    EXPECT_TRUE(run.complains("#2 eboot.bin+0x")) << run.err;
  }
}

TEST(Fault, every_kind_ends_the_run_with_the_same_code_and_its_name) {
  const struct {
    const char* probe;
    const char* message;
  } cases[] = {
      {"write-fault", "writing 0x123456"},         {"jump-null", "a jump to null"},
      {"illegal", "illegal instruction"},          {"divide", "arithmetic fault"},
      {"overflow", "memory access violation"},     {"smash", "overran a buffer on its stack"},
      {"abort", "called abort from eboot.bin+0x"},
  };
  for (const auto& c : cases) {
    const auto run = run_guest({probe(), c.probe});
    EXPECT_EQ(run.code, kGuestFault) << c.probe << run.err;
    EXPECT_TRUE(run.complains(c.message)) << c.probe << run.err;
  }
}

TEST(Fault, a_bad_pointer_given_to_an_import_names_the_import) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "bad-pointer"});
    EXPECT_EQ(run.code, kGuestFault) << run.err;
    EXPECT_TRUE(run.complains("inside strlen of libSceLibcInternal, which the title called from eboot.bin+0x"))
        << run.err;
    EXPECT_TRUE(run.complains("touching 0x123456")) << run.err;
  }
}

}  // namespace
}  // namespace orrery
