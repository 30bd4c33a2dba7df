#include <gtest/gtest.h>

#include "tests/guest-host/probes/run_guest.hpp"

namespace orrery {
namespace {

TEST(Threads, each_has_its_own_thread_local_storage_and_errno_in_every_policy) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "threads"});
    EXPECT_EQ(run.code, 0) << policy << run.out << run.err;
    EXPECT_EQ(run.out, "2400 by 8 threads, mine still 3 and 4\n") << policy;
  }
}

TEST(Threads, a_fault_in_one_names_it_and_ends_the_run) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "thread-fault"});
    EXPECT_EQ(run.code, 68) << policy << run.err;
    EXPECT_TRUE(run.complains("(unlucky)")) << run.err;
  }
}

}  // namespace
}  // namespace orrery
