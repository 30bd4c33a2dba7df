#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <filesystem>

#include "shared/plain_file.hpp"

namespace orrery {
namespace {

class PlainFileTest : public testing::Test {
 protected:
  PlainFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-plain-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~PlainFileTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::filesystem::path folder;
};

constexpr std::array kFirst{std::byte{1}, std::byte{2}}, kSecond{std::byte{3}, std::byte{4}};

TEST_F(PlainFileTest, a_published_file_is_read_back_whole) {
  const auto path = folder / "made" / "file";
  ASSERT_TRUE(publish_file(path, {kFirst, kSecond}));
  const PlainFile file = open_plain_file(path);
  ASSERT_TRUE(file.fd && file.plain);
  ASSERT_EQ(file.size, 4u);
  std::array<std::byte, 4> bytes{};
  EXPECT_EQ(read_all(file.fd.get(), bytes), 4u);
  EXPECT_EQ(bytes, (std::array{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}));
}

TEST_F(PlainFileTest, reading_beyond_the_end_is_no_error) {
  ASSERT_TRUE(publish_file(folder / "file", {kFirst}));
  const PlainFile file = open_plain_file(folder / "file");
  std::array<std::byte, 4> bytes{};
  errno = EBADF;
  EXPECT_EQ(read_all(file.fd.get(), bytes), 2u);
  EXPECT_EQ(errno, 0);
  EXPECT_EQ(read_all(-1, bytes), 0u);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(PlainFileTest, a_pipe_without_a_writer_is_not_waited_for) {
  const auto path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const PlainFile file = open_plain_file(path);
  EXPECT_TRUE(file.fd);
  EXPECT_FALSE(file.plain);
  EXPECT_FALSE(open_plain_file(folder).plain);
  EXPECT_FALSE(open_plain_file(folder / "none").fd);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(PlainFileTest, what_could_not_be_published_leaves_nothing_behind) {
  const auto path = folder / "folder";
  std::filesystem::create_directory(path);  // no file can be renamed onto it
  EXPECT_FALSE(publish_file(path, {kFirst}));
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

}  // namespace
}  // namespace orrery
