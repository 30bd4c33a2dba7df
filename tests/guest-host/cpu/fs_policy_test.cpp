#include "guest-host/cpu/fs_policy.hpp"

#include <gtest/gtest.h>

#include "guest-host/cpu/guest_process.hpp"
#include "guest-host/cpu/syscall_dispatch.hpp"

namespace orrery::cpu {
namespace {

TEST(FsPolicyChoice, bases_kept_by_the_kernel_come_first_then_known_code_then_the_one_that_is_always_right) {
  EXPECT_EQ(choose_fs_policy({}, true, true)->policy, FsPolicy::fsgsbase);
  EXPECT_EQ(choose_fs_policy({}, true, false)->policy, FsPolicy::fsgsbase);
  EXPECT_EQ(choose_fs_policy({}, false, true)->policy, FsPolicy::patch);
  EXPECT_EQ(choose_fs_policy({}, false, false)->policy, FsPolicy::arch_prctl);
}

TEST(FsPolicyChoice, a_forced_policy_is_taken_unless_the_kernel_would_lose_the_base) {
  EXPECT_EQ(choose_fs_policy(FsPolicy::patch, true, false)->policy, FsPolicy::patch);
  EXPECT_EQ(choose_fs_policy(FsPolicy::arch_prctl, true, true)->policy, FsPolicy::arch_prctl);
  EXPECT_EQ(choose_fs_policy(FsPolicy::fsgsbase, true, true)->policy, FsPolicy::fsgsbase);
  auto refused = choose_fs_policy(FsPolicy::fsgsbase, false, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ExitCode::usage);
}

TEST(FsPolicyChoice, names_are_read_back) {
  for (const auto policy : {FsPolicy::fsgsbase, FsPolicy::patch, FsPolicy::arch_prctl}) {
    EXPECT_EQ(parse_fs_policy(name_of(policy)), policy);
  }
  EXPECT_FALSE(parse_fs_policy("fs"));
}

TEST(SyscallNames, known_numbers_have_names_and_others_their_number) {
  EXPECT_EQ(syscall_name(20), "getpid (20)");
  EXPECT_EQ(syscall_name(60000), "number 60000");
}

TEST(GuestProcess, an_address_is_described_by_its_module) {
  auto memory = memory::GuestMemory::create({64 << 20}).value();
  Refusals refusals;
  GuestProcess process(*memory, refusals, FsPolicy::arch_prctl);
  process.add_module({"eboot.bin", {0x4000}, {0x8000}});
  EXPECT_EQ(process.describe({0x4010}), "eboot.bin+0x10");
  EXPECT_EQ(process.describe({0x8000}), "0x8000");
}

TEST(GuestProcess, the_first_end_counts) {
  auto memory = memory::GuestMemory::create({64 << 20}).value();
  Refusals refusals;
  GuestProcess process(*memory, refusals, FsPolicy::arch_prctl);
  process.end({3});
  process.end({4});
  EXPECT_EQ(process.wait_for_end().exit_code, 3);
}

TEST(Refusals, are_counted_by_name) {
  Refusals refusals;
  EXPECT_EQ(refusals.summary(), "");
  refusals.refuse("a", "first");
  refusals.refuse("b", "once");
  refusals.refuse("a", "again");
  EXPECT_EQ(refusals.counts().at("a"), 2u);
  EXPECT_EQ(refusals.summary(), "  a x2\n  b x1\n");
}

}  // namespace
}  // namespace orrery::cpu
