#include <gtest/gtest.h>
#include <array>
#include <atomic>
#include <thread>

#include "guest-host/memory/guest_memory.hpp"

namespace orrery::memory {
namespace {

constexpr Bytes kPage{kGuestPage};

class Access : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_ = GuestMemory::create({64 << 20}).value();
    page_ = memory_->map({.kind = MapKind::flexible, .size = {2 * kGuestPage}}).value();
  }
  std::unique_ptr<GuestMemory> memory_;
  GuestAddress page_;
};

TEST_F(Access, a_copy_that_leaves_the_window_is_an_error_and_copies_nothing) {
  const std::array<std::byte, 16> ones{std::byte{1}, std::byte{1}};
  const GuestAddress last = page_ + Bytes{2 * kGuestPage - 8};
  EXPECT_FALSE(memory_->write(last, ones));
  EXPECT_EQ(memory_->read_value<uint64_t>(last).value(), 0u);
  std::array<std::byte, 16> out{};
  EXPECT_FALSE(memory_->read(last, out));
  EXPECT_FALSE(memory_->read({0}, out));
  EXPECT_FALSE(memory_->read({~0ull - 3}, out));
  EXPECT_FALSE(memory_->read({0x7fff'0000'0000}, out));
}

TEST_F(Access, a_copy_may_span_windows_that_touch) {
  ASSERT_TRUE(memory_->protect(page_ + kPage, kPage, kCpuRead | kCpuWrite | kGpuRead));
  ASSERT_TRUE(memory_->write_value(page_ + Bytes{kGuestPage - 4}, uint64_t{0x1122'3344'5566'7788}));
  EXPECT_EQ(memory_->read_value<uint64_t>(page_ + Bytes{kGuestPage - 4}).value(), 0x1122'3344'5566'7788u);
}

TEST_F(Access, protection_for_the_gpu_alone_gives_the_cpu_nothing) {
  ASSERT_TRUE(memory_->protect(page_, kPage, kGpuRead | kGpuWrite));
  EXPECT_FALSE(memory_->read_value<uint32_t>(page_));
  EXPECT_FALSE(memory_->write_value(page_, 1u));
  EXPECT_TRUE(memory_->covers(page_, kPage, kGpuWrite));
  EXPECT_FALSE(memory_->covers(page_, {2 * kGuestPage}, kGpuWrite));
}

TEST_F(Access, a_string_ends_at_its_zero_or_is_an_error) {
  const std::string text = "over the page's edge";
  const GuestAddress at = page_ + Bytes{kGuestPage - 5};
  ASSERT_TRUE(memory_->write(at, std::as_bytes(std::span(text.c_str(), text.size() + 1))));
  EXPECT_EQ(memory_->read_string(at).value(), text);
  EXPECT_FALSE(memory_->read_string(at, 10));
  const GuestAddress end = page_ + Bytes{2 * kGuestPage - 1};
  ASSERT_TRUE(memory_->write_value(end, 'x'));
  EXPECT_FALSE(memory_->read_string(end));
  EXPECT_FALSE(memory_->read_string({8}));
}

TEST_F(Access, every_change_is_published_with_a_growing_version) {
  std::vector<std::byte> table(protocol::address_map_memory());
  protocol::AddressMapWriter writer(table);
  const protocol::AddressMapReader reader(table, memory_->arena_size());
  std::vector<uint64_t> versions;
  ASSERT_TRUE(memory_->publish_to(&writer, [&](uint64_t version) { versions.push_back(version); }));
  const auto before = reader.snapshot().value();
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].guest_begin, page_.value);
  ASSERT_TRUE(memory_->unmap(page_, kPage));
  const auto after = reader.snapshot().value();
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].guest_begin, (page_ + kPage).value);
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_LT(versions[0], versions[1]);
}

TEST_F(Access, copies_and_unmapping_from_several_threads_never_touch_a_missing_page) {
  std::atomic<bool> stop = false;
  std::atomic<int> copied = 0;
  std::thread reader([&] {
    std::array<std::byte, 256> out;
    while (!stop) {
      if (memory_->read(page_, out)) ++copied;
    }
  });
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(memory_->unmap(page_, kPage));
    ASSERT_TRUE(memory_->map({.kind = MapKind::flexible, .size = kPage, .address = page_, .fixed = true}));
  }
  while (copied == 0) std::this_thread::yield();
  stop = true;
  reader.join();
  EXPECT_TRUE(memory_->covers(page_, {2 * kGuestPage}, kCpuRead));
}

}  // namespace
}  // namespace orrery::memory
