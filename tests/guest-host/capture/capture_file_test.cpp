#include "guest-host/capture/capture_file.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "guest-host/capture/check_sum.hpp"

namespace orrery::capture {
namespace {

constexpr uint64_t kArena = 1 << 20;

class CaptureFile : public testing::Test {
 protected:
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("orrery-capture-{}", ::getpid());
  ~CaptureFile() override { std::filesystem::remove(path); }

  static std::vector<std::byte> page(char fill) { return std::vector<std::byte>(kPageBytes, std::byte(fill)); }
  static ChangedPage changed(uint64_t offset, const std::vector<std::byte>& bytes) {
    return {offset, hash_bytes(bytes), bytes, false};
  }

  void write_one() {
    auto writer = *CaptureWriter::create(path, {"title", kArena, 3});
    const std::vector<protocol::MapEntry> map{{0x4000, 0x4000, 0, 3, 1}};
    const auto a = page('a'), b = page('b');
    writer.map(map);
    writer.pages(std::vector{changed(0, a), changed(kPageBytes, b), changed(8192, a)});
    const std::array<std::byte, 3> body{std::byte{1}, std::byte{2}, std::byte{3}};
    const std::array<std::span<const std::byte>, 2> pieces{std::span(body).first(1), std::span(body).last(2)};
    writer.entry(protocol::EntryKind::submission, 5, 77, pieces);
    writer.settled({{11, 12}, 0});
    writer.pages(std::vector{changed(8192, b), ChangedPage{0, {}, {}, true}});
    writer.entry(protocol::EntryKind::flip, 0, 78, pieces);
    writer.settled({{13, 14}, 1});
    ASSERT_TRUE(writer.end({2, 1}));
  }

  std::string bytes() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  // Kinds of the records that can be read, as letters.
  std::string records(CaptureReader& reader) const {
    std::string kinds;
    while (const auto record = reader.next()) kinds += "mprEsX"[record->index()];
    return kinds;
  }
};

TEST_F(CaptureFile, what_was_written_is_read_and_equal_pages_are_stored_once) {
  write_one();
  auto reader = CaptureReader::open(path);
  ASSERT_TRUE(reader) << reader.error().describe();
  EXPECT_EQ(reader->facts().title, "title");
  EXPECT_EQ(reader->facts().arena_size, kArena);
  EXPECT_EQ(reader->facts().first_flip, 3u);
  EXPECT_EQ(std::get<MapRecord>(*reader->next()).entries.at(0).guest_begin, 0x4000u);
  const auto pages = std::get<PagesRecord>(*reader->next()).pages;
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_EQ(pages[0].content, pages[2].content);
  auto read = page(0);
  ASSERT_TRUE(reader->content(pages[1].content, read));
  EXPECT_EQ(read, page('b'));
  const auto entry = std::get<EntryRecord>(*reader->next());
  EXPECT_EQ(entry.queue, 5u);
  EXPECT_EQ(entry.guest_time_ns, 77u);
  EXPECT_EQ(entry.body, (std::vector{std::byte{1}, std::byte{2}, std::byte{3}}));
  EXPECT_EQ(std::get<SettledRecord>(*reader->next()).memory, (MemoryHash{11, 12}));
  const auto again = std::get<PagesRecord>(*reader->next()).pages;
  EXPECT_EQ(again.at(0).content, pages[1].content);
  EXPECT_EQ(again.at(1).content, 0u);
  EXPECT_EQ(std::get<EntryRecord>(*reader->next()).kind, protocol::EntryKind::flip);
  EXPECT_EQ(std::get<SettledRecord>(*reader->next()).open, 1u);
  EXPECT_TRUE(reader->cut_off());
  EXPECT_EQ(std::get<EndRecord>(*reader->next()).flips, 1u);
  EXPECT_FALSE(reader->next());
  EXPECT_FALSE(reader->cut_off());
  EXPECT_LT(bytes().size(), 3 * kPageBytes);
}

TEST_F(CaptureFile, cut_off_at_any_byte_it_is_good_up_to_there) {
  write_one();
  const std::string whole = bytes(), kinds = "mpEspEsX";
  std::string longest;
  for (size_t size = 0; size < whole.size(); size += size % kPageBytes < 200 || size + 400 > whole.size() ? 1 : 97) {
    put(whole.substr(0, size));
    auto reader = CaptureReader::open(path);
    if (!reader) {
      EXPECT_EQ(longest, "");
      continue;
    }
    const std::string read = records(*reader);
    ASSERT_EQ(read, kinds.substr(0, read.size())) << size;
    ASSERT_GE(read.size(), longest.size());
    ASSERT_EQ(reader->cut_off(), read.size() < kinds.size()) << size;
    longest = read;
  }
  EXPECT_EQ(longest, "mpEspEs");
}

TEST_F(CaptureFile, a_changed_byte_ends_it_there) {
  write_one();
  const std::string whole = bytes();
  for (size_t at = 0; at < whole.size() - 40; at += 61) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    put(damaged);
    auto reader = CaptureReader::open(path);
    if (!reader) continue;
    const std::string read = records(*reader);
    // A byte of padding says nothing.
    EXPECT_TRUE(read.size() < 8 || read == "mpEspEsX") << at;
  }
  put("PNG, say");
  const auto other = CaptureReader::open(path);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ExitCode::file_malformed);
  EXPECT_EQ(CaptureReader::open("/nowhere/at/all").error().code, ExitCode::file_missing);
}

TEST_F(CaptureFile, a_page_outside_the_arena_or_of_no_content_is_not_read) {
  const auto a = page('a');
  for (const uint64_t offset : {kArena, uint64_t{17}, UINT64_MAX - kPageBytes + 1}) {
    auto writer = *CaptureWriter::create(path, {"title", kArena, 0});
    writer.pages(std::vector{changed(offset, a)});
    ASSERT_TRUE(writer.end({}));
    auto reader = *CaptureReader::open(path);
    EXPECT_EQ(records(reader), "") << offset;
    EXPECT_TRUE(reader.cut_off());
  }
}

TEST(CheckSum, it_is_the_crc_that_everybody_knows) {
  CheckSum check;
  check.add(std::as_bytes(std::span("123456789", 9)));
  EXPECT_EQ(check.value(), 0xcbf43926u);  // the check value of the catalogue of CRC algorithms
}

}  // namespace
}  // namespace orrery::capture
