#include <gtest/gtest.h>

#include "guest-host/hle/pad/pad.hpp"
#include "tests/guest-host/hle/console_run.hpp"

namespace orrery::hle::pad {
namespace {

TEST(Pad, the_window_s_state_is_what_the_title_reads) {
  test::ConsoleRun run;
  const GuestAddress page = run.allocate(0x4000);
  ASSERT_EQ(run.call32("scePadInit", {}), 0);
  const uint64_t handle = static_cast<uint64_t>(run.call32("scePadOpen", {0x10000000, 0, 0, 0}));
  ASSERT_EQ(run.call32("scePadReadState", {handle, page.value}), 0);
  EXPECT_EQ(run.read<uint32_t>(page), 0u);
  EXPECT_EQ(run.read<uint8_t>(page + Bytes{4}), 128);
  EXPECT_EQ(run.read<uint8_t>(page + Bytes{76}), 1);
  run.console().input({0x4000, 1, 2, 3, 4, 5, 6});
  ASSERT_EQ(run.call32("scePadRead", {handle, page.value, 4}), 1);
  EXPECT_EQ(run.read<uint32_t>(page), 0x4000u);
  EXPECT_EQ((run.read<std::array<uint8_t, 6>>(page + Bytes{4})), (std::array<uint8_t, 6>{1, 2, 3, 4, 5, 6}));
}

TEST(Pad, a_pad_that_is_not_open_can_t_be_read) {
  test::ConsoleRun run;
  EXPECT_LT(run.call32("scePadOpen", {0x10000000, 0, 0, 0}), 0) << "before scePadInit";
  ASSERT_EQ(run.call32("scePadInit", {}), 0);
  EXPECT_EQ(static_cast<uint32_t>(run.call32("scePadReadState", {1, 0})), 0x80920003u);
  const uint64_t handle = static_cast<uint64_t>(run.call32("scePadOpen", {0x10000000, 0, 0, 0}));
  EXPECT_EQ(run.call32("scePadGetHandle", {0x10000000, 0, 0}), static_cast<int32_t>(handle));
  EXPECT_EQ(static_cast<uint32_t>(run.call32("scePadReadState", {handle, 0})), 0x80920001u);
  EXPECT_EQ(run.call32("scePadClose", {handle}), 0);
  EXPECT_EQ(static_cast<uint32_t>(run.call32("scePadReadState", {handle, 0})), 0x80920003u);
}

TEST(UserService, one_user_is_logged_in) {
  test::ConsoleRun run;
  const GuestAddress page = run.allocate(0x4000);
  ASSERT_EQ(run.call32("sceUserServiceInitialize", {0}), 0);
  ASSERT_EQ(run.call32("sceUserServiceGetInitialUser", {page.value}), 0);
  ASSERT_EQ(run.call32("sceUserServiceGetLoginUserIdList", {page.value + 16}), 0);
  const auto list = run.read<std::array<int32_t, 4>>(page + Bytes{16});
  EXPECT_EQ(list, (std::array<int32_t, 4>{run.read<int32_t>(page), -1, -1, -1}));
}

}  // namespace
}  // namespace orrery::hle::pad
