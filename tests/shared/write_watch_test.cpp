#include "shared/write_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <numeric>

namespace orrery {
namespace {

constexpr uint64_t kPages = 4096;

// A watched mapping of a memory file, and its scan.
class Watched : public testing::Test {
 protected:
  void SetUp() override {
    if (auto probed = probe_write_watch(); !probed) GTEST_SKIP() << probed.error().describe();
    file = std::move(make_memory_file("watched", {kPages * kHostPage}).value());
    memory = Mapping::of(file, {0}, {kPages * kHostPage}).value();
    watch.emplace(WriteWatch::open().value());
    ASSERT_TRUE(watch->add(all()));
    scan.emplace(WriteScan::open(watch->pagemap().value()).value());
    ASSERT_TRUE(scan->arm(all()));
  }
  AddressRange pages(uint64_t first, uint64_t count) const {
    const uint64_t begin = reinterpret_cast<uint64_t>(memory.data()) + first * kHostPage;
    return {begin, begin + count * kHostPage};
  }
  AddressRange all() const { return pages(0, kPages); }
  void write(uint64_t page, uint64_t inside = 0) {
    *reinterpret_cast<volatile char*>(memory.data() + page * kHostPage + inside) = 1;
  }
  std::vector<AddressRange> harvested() { return harvested(all()); }
  std::vector<AddressRange> harvested(AddressRange range) {
    std::vector<AddressRange> written;
    const auto done = scan->harvest(range, written);
    EXPECT_TRUE(done) << done.error().describe();
    return written;
  }

  UniqueFd file;
  Mapping memory;
  std::optional<WriteWatch> watch;
  std::optional<WriteScan> scan;
};
using Ranges = std::vector<AddressRange>;

TEST_F(Watched, every_write_is_harvested_once) {
  // What has no page table yet is neither written nor armed, so that its first write says nothing new.
  EXPECT_EQ(harvested(), Ranges{});
  write(7);
  write(8, 4095);
  write(3000);
  EXPECT_EQ(harvested(), (Ranges{pages(7, 2), pages(3000, 1)}));
  EXPECT_EQ(harvested(), Ranges{});
  write(8);
  EXPECT_EQ(harvested(), (Ranges{pages(8, 1)}));
}

TEST_F(Watched, reads_are_no_writes) {
  uint64_t sum = 0;
  for (uint64_t page = 0; page < kPages; ++page) sum += static_cast<uint64_t>(memory.data()[page * kHostPage]);
  EXPECT_EQ(sum, 0u);
  (void)harvested();  // pages that a read brought in were never armed before
  for (uint64_t page = 0; page < kPages; ++page) sum += static_cast<uint64_t>(memory.data()[page * kHostPage]);
  EXPECT_EQ(harvested(), Ranges{});
}

TEST_F(Watched, writes_by_the_kernel_count_and_writes_through_another_mapping_do_not) {
  write(100);
  (void)harvested();
  const UniqueFd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::read(zero.get(), memory.data() + 100 * kHostPage, 10), 10);
  EXPECT_EQ(harvested(), (Ranges{pages(100, 1)}));
  auto other = Mapping::of(file, {0}, {kPages * kHostPage});
  ASSERT_TRUE(other);
  other->data()[100 * kHostPage] = std::byte{5};
  ASSERT_EQ(::pwrite(file.get(), "x", 1, 101 * kHostPage), 1);
  EXPECT_EQ(harvested(), Ranges{});
  EXPECT_EQ(memory.data()[100 * kHostPage], std::byte{5});
}

TEST_F(Watched, scattered_pages_beyond_one_call_s_room_are_all_reported) {
  Ranges expected;
  for (uint64_t page = 1; page < kPages; page += 3) {
    write(page);
    expected.push_back(pages(page, 1));
  }
  EXPECT_EQ(harvested(), expected);
  EXPECT_EQ(harvested(), Ranges{});
}

TEST_F(Watched, only_the_range_that_is_asked_about_is_harvested_and_armed) {
  write(10);
  write(20);
  EXPECT_EQ(harvested(pages(10, 1)), (Ranges{pages(10, 1)}));
  EXPECT_EQ(harvested(pages(20, 4)), (Ranges{pages(20, 1)}));
  EXPECT_EQ(harvested(pages(10, 1)), Ranges{});
}

TEST_F(Watched, a_look_without_arming_leaves_the_page_written) {
  write(5);
  Ranges written;
  ASSERT_TRUE(scan->harvest(all(), written, false));
  EXPECT_EQ(written, (Ranges{pages(5, 1)}));
  EXPECT_EQ(harvested(), (Ranges{pages(5, 1)}));
}

TEST_F(Watched, memory_that_nobody_registered_is_an_error_by_name) {
  auto other = Mapping::of(file, {0}, {kPages * kHostPage});
  ASSERT_TRUE(other);
  const auto begin = reinterpret_cast<uint64_t>(other->data());
  *other->data() = std::byte{1};
  std::vector<AddressRange> written;
  const auto done = scan->harvest({begin, begin + kHostPage}, written);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().describe().find("PAGEMAP_SCAN"), std::string::npos);
  EXPECT_FALSE(scan->arm({begin, begin + kHostPage}));
}

TEST_F(Watched, what_is_unmapped_reports_nothing) {
  write(50);
  ASSERT_EQ(::munmap(memory.data() + 48 * kHostPage, 16 * kHostPage), 0);
  write(70);
  EXPECT_EQ(harvested(), (Ranges{pages(70, 1)}));
}

TEST_F(Watched, changing_the_protection_of_a_mapping_keeps_it_watched) {
  write(30);
  (void)harvested();
  ASSERT_EQ(::mprotect(memory.data(), kPages * kHostPage, PROT_READ), 0);
  ASSERT_EQ(::mprotect(memory.data(), kPages * kHostPage, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(harvested(), Ranges{});
  write(30);
  EXPECT_EQ(harvested(), (Ranges{pages(30, 1)}));
}

TEST_F(Watched, another_process_s_writes_are_harvested_through_its_pagemap) {
  int to_child[2], to_parent[2];
  ASSERT_EQ(::pipe(to_child), 0);
  ASSERT_EQ(::pipe(to_parent), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // A fork's mappings are not registered any more.
    char word = 0;
    const auto own = WriteWatch::open();
    if (!own || !own->add(all()) || ::write(to_parent[1], &word, 1) != 1) ::_exit(1);
    if (::read(to_child[0], &word, 1) != 1) ::_exit(2);
    write(11);
    write(4000);
    if (::write(to_parent[1], &word, 1) != 1 || ::read(to_child[0], &word, 1) != 1) ::_exit(3);
    ::_exit(0);
  }
  char word = 0;
  ASSERT_EQ(::read(to_parent[0], &word, 1), 1);
  UniqueFd pagemap(::open(fmt::format("/proc/{}/pagemap", child).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(pagemap);
  auto theirs = WriteScan::open(std::move(pagemap));
  ASSERT_TRUE(theirs) << theirs.error().describe();
  ASSERT_TRUE(theirs->arm(all()));
  ASSERT_EQ(::write(to_child[1], &word, 1), 1);
  ASSERT_EQ(::read(to_parent[0], &word, 1), 1);
  Ranges written;
  ASSERT_TRUE(theirs->harvest(all(), written));
  EXPECT_EQ(written, (Ranges{pages(11, 1), pages(4000, 1)}));
  EXPECT_EQ(harvested(), Ranges{}) << "our own mapping was not written";
  ASSERT_EQ(::write(to_child[1], &word, 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(WriteWatching, needs_no_privilege) {
  if (auto probed = probe_write_watch(); !probed) GTEST_SKIP() << probed.error().describe();
  if (::geteuid() != 0) return;  // the probe above was an ordinary user's
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(2);
    // Without this /proc/self belongs to root, as for any process that changed its user.
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const auto probed = probe_write_watch();
    if (!probed) fmt::print(stderr, "{}\n", probed.error().describe());
    ::_exit(probed ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(WriteWatching, a_descriptor_that_is_no_pagemap_is_refused_by_name) {
  const auto scan = WriteScan::open(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  ASSERT_FALSE(scan);
  EXPECT_NE(scan.error().describe().find("PAGEMAP_SCAN"), std::string::npos);
}

}  // namespace
}  // namespace orrery
