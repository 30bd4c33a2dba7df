#include <gtest/gtest.h>

#include "tests/guest-host/probes/run_guest.hpp"

namespace orrery {
namespace {

TEST(Syscall, known_numbers_are_served_and_others_refused_by_name_without_reaching_the_host) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "syscalls"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out,
              "written by number\nwrite 18 0\nbad file 9 1\nbad address 14\ngetpid 2\nlogged by number\n"
              "refused 78 1\nrefused 78 1\nindirect 2\ninterrupt 2\n")
        << policy;
    EXPECT_TRUE(run.complains("system call number 12 x2")) << run.err;
  }
}

TEST(Syscall, exit_ends_the_run_with_its_code) { EXPECT_EQ(run_guest({probe(), "exit-by-number"}).code, 9); }

TEST(Syscall, the_thread_pointer_survives_many_crossings) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "storm"});
    EXPECT_EQ(run.code, 0) << policy << run.err;
    EXPECT_EQ(run.out, "storm over\n");
  }
}

}  // namespace
}  // namespace orrery
