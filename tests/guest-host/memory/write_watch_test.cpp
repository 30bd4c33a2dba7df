// The title's windows as the GPU service's tracking sees them.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "guest-host/memory/guest_memory.hpp"

namespace orrery::memory {
namespace {

constexpr Bytes kPage{kGuestPage};

class WatchedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (auto probed = probe_write_watch(); !probed) GTEST_SKIP() << probed.error().describe();
    memory_ = GuestMemory::create({256 << 20}).value();
    // A window that is older than the watch.
    old_ = memory_->map({.kind = MapKind::heap, .size = kPage}).value();
    auto watch = WriteWatch::open().value();
    scan_.emplace(WriteScan::open(watch.pagemap().value()).value());
    ASSERT_TRUE(memory_->watch_writes(std::move(watch)));
  }
  std::vector<AddressRange> harvested(GuestAddress begin, Bytes size) {
    std::vector<AddressRange> written;
    const auto done = scan_->harvest({begin.value, (begin + size).value}, written);
    EXPECT_TRUE(done) << done.error().describe();
    return written;
  }
  void arm(GuestAddress begin, Bytes size) { ASSERT_TRUE(scan_->arm({begin.value, (begin + size).value})); }
  GuestAddress direct_window(ArenaOffset offset, Bytes size, GuestAddress at = {}) {
    return memory_
        ->map({.kind = MapKind::direct, .size = size, .address = at, .fixed = at.value != 0, .offset = offset})
        .value();
  }
  ArenaOffset direct(uint64_t pages) {
    return memory_->allocate_direct({0}, {memory_->direct_size().value}, {pages * kGuestPage}, kPage).value();
  }
  void store(GuestAddress at) { ASSERT_TRUE(memory_->write_value(at, uint32_t{1})); }

  std::unique_ptr<GuestMemory> memory_;
  GuestAddress old_;
  std::optional<WriteScan> scan_;
};

TEST_F(WatchedMemory, windows_made_before_and_after_the_watch_are_registered) {
  const GuestAddress flexible = memory_->map({.kind = MapKind::flexible, .size = kPage}).value();
  const GuestAddress window = direct_window(direct(4), {4 * kGuestPage});
  for (const GuestAddress at : {old_, flexible, window}) {
    arm(at, kPage);
    store(at + Bytes{kHostPage});
    EXPECT_EQ(harvested(at, kPage), (std::vector<AddressRange>{{at.value + kHostPage, at.value + 2 * kHostPage}}));
  }
}

TEST_F(WatchedMemory, a_window_mapped_anew_and_one_whose_protection_changed_are_registered_too) {
  const ArenaOffset offset = direct(4);
  const GuestAddress at = direct_window(offset, {4 * kGuestPage});
  arm(at, {4 * kGuestPage});
  store(at);
  ASSERT_TRUE(memory_->unmap(at, kPage));
  (void)direct_window(offset, kPage, at);
  ASSERT_TRUE(memory_->protect(at + kPage, kPage, kCpuRead));
  ASSERT_TRUE(memory_->protect(at + kPage, kPage, kCpuRead | kCpuWrite));
  arm(at, {4 * kGuestPage});
  EXPECT_TRUE(harvested(at, {4 * kGuestPage}).empty());
  store(at + kPage);
  EXPECT_EQ(harvested(at, {4 * kGuestPage}).size(), 1u);
}

TEST_F(WatchedMemory, a_write_through_one_window_shows_in_that_window_alone) {
  const ArenaOffset offset = direct(1);
  const GuestAddress a = direct_window(offset, kPage), b = direct_window(offset, kPage);
  store(a);
  store(b);
  arm(a, kPage);
  arm(b, kPage);
  store(b);
  EXPECT_TRUE(harvested(a, kPage).empty());
  EXPECT_EQ(harvested(b, kPage).size(), 1u);
}

TEST_F(WatchedMemory, what_changes_without_a_write_is_reported) {
  std::vector<std::byte> part(sizeof(protocol::ReportedWrites));
  protocol::ReportedWritesWriter writer(part);
  protocol::ReportedWritesReader reader(part);
  memory_->report_to(&writer);
  std::vector<protocol::ReportedRange> reports;
  const ArenaOffset offset = direct(2);
  const ArenaOffset end = offset + Bytes{2 * kGuestPage};
  using enum protocol::ReportKind;
  const GuestAddress at = direct_window(offset, {2 * kGuestPage});
  ASSERT_TRUE(reader.take(reports));
  EXPECT_EQ(reports, (std::vector<protocol::ReportedRange>{{changed, offset, end}}));
  // Unmapped direct memory keeps its bytes until it is released.
  reports.clear();
  ASSERT_TRUE(memory_->unmap(at, kPage));
  ASSERT_TRUE(reader.take(reports));
  EXPECT_TRUE(reports.empty());
  ASSERT_TRUE(memory_->release_direct(offset, {2 * kGuestPage}));
  ASSERT_TRUE(reader.take(reports));
  EXPECT_EQ(reports, (std::vector<protocol::ReportedRange>{{discarded, offset, end}}));
  reports.clear();
  const auto heap = memory_->find(old_).value();
  ASSERT_TRUE(memory_->unmap(old_, kPage));
  ASSERT_TRUE(reader.take(reports));
  EXPECT_EQ(reports, (std::vector<protocol::ReportedRange>{{discarded, heap.offset, heap.offset + kPage}}));
}

}  // namespace
}  // namespace orrery::memory
