#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest-host/probes/run_guest.hpp"

namespace orrery {
namespace {

// Some virtual machines switch the 32-bit gate off: then `int 0x80` is a fault in any program.
bool host_has_the_interrupt_gate() {
  const pid_t child = ::fork();
  if (child == 0) {
    long number = 20;  // getpid
    __asm__ volatile("int $0x80" : "+a"(number) : : "memory");
    ::_exit(number > 0 ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Syscall, known_numbers_are_served_and_others_refused_by_name_without_reaching_the_host) {
  for (const auto& policy : fs_policies()) {
    const auto run = run_guest({"--fs-policy=" + policy, probe(), "syscalls"});
    std::string expected =
        "written by number\nwrite 18 0\nbad file 9 1\nbad address 14\ngetpid 2\nlogged by number\n"
        "refused 78 1\nrefused 78 1\nindirect 2\n";
    if (host_has_the_interrupt_gate()) {
      expected += "interrupt 2\n";
      EXPECT_EQ(run.code, 0) << run.err;
      EXPECT_TRUE(run.complains("system call number 12 x2")) << run.err;
    } else {
      EXPECT_EQ(run.code, 68) << run.err;
      EXPECT_TRUE(run.complains("system call number 12")) << run.err;
    }
    EXPECT_EQ(run.out, expected) << policy;
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
