#include "guest-host/capture/recorder.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <filesystem>

namespace orrery::capture {
namespace {

constexpr uint64_t kArena = 1 << 20;

TEST(Wish, a_file_and_a_range_of_flips) {
  EXPECT_EQ(parse_wish("out.cap")->to, UINT64_MAX);
  EXPECT_EQ(parse_wish("a:b/out.cap")->path, "a:b/out.cap");
  const auto part = parse_wish("a:b/out.cap:10-20");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->path, "a:b/out.cap");
  EXPECT_EQ(part->from, 10u);
  EXPECT_EQ(part->to, 20u);
  for (const char* bad : {"out:", "out:5", "out:5-", "out:9-9", "out:-3", "out:1-2x", "out:x", ":1-2"}) {
    EXPECT_FALSE(parse_wish(bad)) << bad;
  }
}

struct Recorded : testing::Test {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("orrery-recorded-{}", ::getpid());
  UniqueFd arena = std::move(*make_memory_file("recorder-test", Bytes{kArena}));
  Mapping memory = std::move(*Mapping::of(arena, Bytes{0}, Bytes{kArena}));
  protocol::ControlSegment segment = std::move(*protocol::ControlSegment::create());
  protocol::AddressMapWriter map{segment.part(protocol::PartName::address_map)};

  Recorded() {
    const std::vector<protocol::MapEntry> all{{0x4000, kArena, 0, 3, 4}};
    EXPECT_TRUE(map.publish(all));
  }
  ~Recorded() override { std::filesystem::remove(path); }
  // A frame: the title writes, submits and flips; the service writes in between.
  static void frame(Recorder& recorder, std::byte* memory, uint8_t number) {
    const std::array<std::byte, 1> body{std::byte{number}};
    const std::array<std::span<const std::byte>, 1> pieces{body};
    memory[0] = std::byte{number};
    recorder.appended(protocol::EntryKind::submission, 0, {}, pieces);
    recorder.settling();
    memory[65536] = std::byte{static_cast<uint8_t>(number + 100)};
    recorder.settled(0);
    recorder.appended(protocol::EntryKind::flip, 0, {}, pieces);
    recorder.settling();
    recorder.settled(0);
  }
};

TEST_F(Recorded, a_range_of_flips_holds_their_entries_and_the_memory_before_them) {
  auto recorder = Recorder::start({path, 2, 4}, "t", arena, Bytes{kArena}, segment);
  ASSERT_TRUE(recorder);
  for (uint8_t number = 1; number <= 6; ++number) frame(**recorder, memory.data(), number);
  const auto told = (*recorder)->finish();
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->starts_with("2 flips, 2 submissions, 4 results")) << *told;
  auto reader = *CaptureReader::open(path);
  std::vector<int> entries, stored;
  bool registers = false;
  while (const auto record = reader.next()) {
    registers = registers || std::holds_alternative<RegistersRecord>(*record);
    if (const auto* entry = std::get_if<EntryRecord>(&*record)) entries.push_back(static_cast<int>(entry->body.at(0)));
    if (const auto* pages = std::get_if<PagesRecord>(&*record)) stored.push_back(static_cast<int>(pages->pages.size()));
  }
  EXPECT_TRUE(registers);
  EXPECT_EQ(entries, (std::vector{3, 3, 4, 4}));
  // What the service wrote before is memory that was found there; what it wrote since is a result and not stored.
  EXPECT_EQ(stored, (std::vector{2, 1}));
  EXPECT_FALSE(reader.cut_off());
}

TEST_F(Recorded, work_that_goes_on_beside_the_title_is_told) {
  auto recorder = Recorder::start({path, 0, UINT64_MAX}, "t", arena, Bytes{kArena}, segment);
  const std::array<std::span<const std::byte>, 1> nothing{};
  (*recorder)->appended(protocol::EntryKind::submission, 0, {}, nothing);
  (*recorder)->settling();
  (*recorder)->settled(1);  // waits for a label
  memory.data()[0] = std::byte{1};
  (*recorder)->settling();
  (*recorder)->settled(0);
  const auto told = (*recorder)->finish();
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("beside the title at 1 of them"), told->npos) << *told;
}

TEST_F(Recorded, a_capture_that_never_began_is_an_error) {
  auto recorder = Recorder::start({path, 50, 60}, "t", arena, Bytes{kArena}, segment);
  frame(**recorder, memory.data(), 1);
  const auto told = (*recorder)->finish();
  ASSERT_FALSE(told);
  EXPECT_NE(told.error().describe().find("1 flips"), std::string::npos);
}

}  // namespace
}  // namespace orrery::capture
