#include <gtest/gtest.h>

#include "tests/guest-host/probes/run_guest.hpp"

namespace orrery {
namespace {

TEST(Library, printf_formats_what_c_defines) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "print"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out,
              "-1 4000000000 ff ABCDEF -1099511627776 -56 4464|   42|42   |00042|+42\n"
              "text|   right|left    |cu|q|%|0x1234\n"
              "1.500000 1.235e+04 0.0001 0x1p+0|     7|2.72\n"
              "1 2 3 4 5 6 7 8|1 2 3 4 5 6 7 8 9 10\n"
              "1 2.5 3\n"
              "17 1-two-3.0-4-5-6\n");
  }
}

TEST(Library, sorting_conversions_errno_and_exit_functions_work) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "general"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out,
              "sorted 1, atoi -17, strtol 255, strtod 2.25\nsinf 0.8415 pow 1024.0 fma 7.0\nerrno 7\n"
              "dlsym 0 1, absent 80020003\nregistered last\nregistered first\n");
  }
}

TEST(Library, an_exit_code_above_sixty_three_stays_a_failure_and_is_said) {
  EXPECT_EQ(run_guest({probe(), "exit-code", "62"}).code, 62);
  const auto run = run_guest({probe(), "exit-code", "64"});
  EXPECT_EQ(run.code, 63);
  EXPECT_TRUE(run.complains("exits with 64, reported as 63")) << run.err;
}

TEST(Library, direct_memory_flexible_memory_and_the_heap_behave) {
  for (const char* what : {"direct", "flexible", "heap"}) {
    const auto run = run_guest({probe(), what});
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_TRUE(run.says("as expected")) << run.out;
  }
  EXPECT_TRUE(run_guest({probe(), "heap"}).complains("free of what malloc did not give x2"));
}

}  // namespace
}  // namespace orrery
