#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared/content_hash.hpp"
#include "shared/unique_fd.hpp"

namespace orrery {
namespace {

TEST(MemoryFile, two_mappings_see_the_same_bytes) {
  auto fd = make_memory_file("test", Bytes{1 << 20});
  ASSERT_TRUE(fd);
  auto a = Mapping::of(*fd, Bytes{0}, Bytes{1 << 20});
  auto b = Mapping::of(*fd, Bytes{4096}, Bytes{4096}, true);
  ASSERT_TRUE(a && b);
  a->data()[4097] = std::byte{7};
  EXPECT_EQ(b->data()[1], std::byte{7});
}

TEST(MemoryFile, it_can_not_shrink_under_a_reader) {
  auto fd = make_memory_file("test", Bytes{8192});
  ASSERT_TRUE(fd);
  EXPECT_NE(::ftruncate(fd->get(), 4096), 0);
  EXPECT_TRUE(check_memory_file(*fd, Bytes{8192}));
  EXPECT_FALSE(check_memory_file(*fd, Bytes{8193}));
}

TEST(MemoryFile, an_unsealed_descriptor_is_refused) {
  UniqueFd plain(::memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(plain.get(), 8192), 0);
  auto checked = check_memory_file(plain, Bytes{8192});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ExitCode::protocol_mismatch);
}

TEST(ContentHash, a_changed_byte_changes_the_hash) {
  std::vector<std::byte> bytes(100);
  const ContentHash before = hash_bytes(bytes);
  bytes[50] = std::byte{1};
  EXPECT_NE(before, hash_bytes(bytes));
  EXPECT_EQ(before.hex().size(), 32u);
}

}  // namespace
}  // namespace orrery
