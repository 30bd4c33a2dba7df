#include <gtest/gtest.h>

#include "tests/guest-host/probes/run_guest.hpp"

namespace orrery {
namespace {

TEST(Import, one_that_nobody_implements_is_refused_by_name_said_once_and_counted) {
  for (const char* form : {"", "-plain"}) {
    const auto run = run_guest({probe(form), "unresolved"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, "known 8002004e\nknown 8002004e\nknown 8002004e\nunknown 8002004e\n");
    EXPECT_TRUE(run.complains("sceKernelGetCpumode")) << run.err;
    EXPECT_TRUE(run.complains("called from eboot.bin+0x")) << run.err;
    EXPECT_TRUE(run.complains("x3\n")) << run.err;
    size_t lines = 0;
    for (size_t at = 0; (at = run.err.find("sceKernelGetCpumode", at)) != run.err.npos; ++at) ++lines;
    EXPECT_EQ(lines, 2u) << run.err;  // when it happened, and in the summary
  }
}

TEST(Import, one_without_a_known_name_is_refused_by_its_identifier_and_library) {
  const auto run = run_guest({probe(), "unresolved"});
  EXPECT_TRUE(run.complains("of libSceNowhere")) << run.err;
}

TEST(Import, with_strict_imports_the_first_call_ends_the_run) {
  const auto run = run_guest({"--strict-imports", probe(), "unresolved"});
  EXPECT_EQ(run.code, 69) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.complains("sceKernelGetCpumode of libkernel is not implemented")) << run.err;
}

TEST(Import, one_that_is_never_called_is_not_held_against_the_title) {
  const auto run = run_guest({"--strict-imports", probe(), "exit-code", "3"});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.err, "");
}

TEST(Import, a_weak_one_that_is_absent_is_null) {
  for (const char* form : {"", "-plain"}) {
    const auto run = run_guest({probe(form), "weak"});
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.out, "weak null\n");
  }
}

}  // namespace
}  // namespace orrery
