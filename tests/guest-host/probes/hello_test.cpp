#include <gtest/gtest.h>
#include <fstream>

#include "guest-host/cpu/fs_policy.hpp"
#include "tests/guest-host/probes/run_guest.hpp"

namespace orrery {
namespace {

constexpr const char* kExpected =
    "hello from the title\n"
    "argument 1: one\n"
    "argument 2: --code\n"
    "argument 3: 5\n"
    "thread-local: 44, zeroed: 0\n"
    "constructed: 7\n"
    " 3.14|ab  |beef|1099511627776|z\n";

TEST(Hello, runs_in_every_form_and_every_thread_pointer_policy) {
  for (const char* form : {"", "-plain", "-previous", "-self"}) {
    for (const auto& policy : fs_policies()) {
      const auto run = run_guest({"--fs-policy=" + policy, hello(form), "one", "--code", "5"});
      EXPECT_EQ(run.code, 5) << form << " " << policy << run.err;
      EXPECT_EQ(run.out, kExpected) << form << " " << policy;
      EXPECT_EQ(run.err, "") << form << " " << policy;
    }
  }
}

TEST(Hello, the_policy_is_chosen_and_named_in_the_log) {
  ::setenv("ORRERY_LOG", "info", 1);
  const auto run = run_guest({hello()});
  ::unsetenv("ORRERY_LOG");
  EXPECT_EQ(run.code, 0);
  const char* const expected = cpu::kernel_keeps_fsgsbase() ? "policy fsgsbase" : "policy patch";
  EXPECT_TRUE(run.complains(expected)) << run.err;
}

TEST(Hello, options_behind_the_title_are_the_titles) {
  const auto run = run_guest({hello(), "--frames", "3", "--help"});
  EXPECT_EQ(run.code, 0);
  EXPECT_TRUE(run.says("argument 1: --frames\nargument 2: 3\nargument 3: --help\n")) << run.out;
}

TEST(Hello, a_folder_with_an_eboot_is_a_title_too) {
  const std::string path = hello();
  EXPECT_EQ(run_guest({path.substr(0, path.rfind('/'))}).code, 0);
}

TEST(CommandLine, mistakes_end_with_the_usage_code_and_say_what_is_wrong) {
  EXPECT_EQ(run_guest({}).code, 64);
  const auto policy = run_guest({"--fs-policy=quick", hello()});
  EXPECT_EQ(policy.code, 64);
  EXPECT_TRUE(policy.complains("must be fsgsbase, patch or arch-prctl")) << policy.err;
  EXPECT_EQ(run_guest({"--nonsense", hello()}).code, 64);
  const auto size = run_guest({"--arena-size", "5", hello()});
  EXPECT_EQ(size.code, 64);
  EXPECT_TRUE(size.complains("64 MiB")) << size.err;
  EXPECT_EQ(run_guest({"--help"}).code, 0);
}

TEST(CommandLine, the_arena_can_be_small) { EXPECT_EQ(run_guest({"--arena-size", "64MiB", hello()}).code, 0); }

TEST(BadFile, each_kind_has_its_own_exit_code_and_a_message) {
  const auto file = [](const std::string& name, const std::string& bytes) {
    const std::string path = ::testing::TempDir() + "orrery_" + name + std::to_string(::getpid());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  std::ifstream good(hello(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(good)), {});
  std::string foreign = bytes;
  foreign[18] = static_cast<char>(183);
  const struct {
    std::string path;
    int code;
    const char* message;
  } cases[] = {
      {"/nowhere/title", 65, "cannot open"},
      {file("empty", ""), 66, "is empty"},
      {file("truncated", bytes.substr(0, 0x900)), 66, "cut off"},
      {file("text", "this is no title, but a text of more than sixty-four bytes, as anybody can see"), 66, "neither"},
      {file("foreign", foreign), 67, "machine 183"},
  };
  for (const auto& c : cases) {
    const auto run = run_guest({c.path});
    EXPECT_EQ(run.code, c.code) << c.path << run.err;
    EXPECT_TRUE(run.complains(c.message)) << run.err;
    ::unlink(c.path.c_str());
  }
}

}  // namespace
}  // namespace orrery
