#include <gtest/gtest.h>
#include <cstring>
#include <random>
#include <thread>

#include "protocol/control_segment.hpp"
#include "protocol/control_socket.hpp"

namespace orrery::protocol {
namespace {

constexpr Bytes kArena{1 << 20};

TEST(ControlSegment, a_view_sees_what_the_owner_wrote_in_each_part) {
  auto segment = ControlSegment::create();
  ASSERT_TRUE(segment) << segment.error().describe();
  for (uint32_t i = 0; i < static_cast<uint32_t>(PartName::count); ++i) {
    auto part = segment->part(static_cast<PartName>(i));
    EXPECT_EQ(part[0], std::byte{0}) << name_of(static_cast<PartName>(i));
    std::memset(part.data(), static_cast<int>(i + 1), 64);
  }
  auto view = ControlSegmentView::open(UniqueFd(::dup(segment->fd().get())), segment->size(), segment->parts());
  ASSERT_TRUE(view);
  for (uint32_t i = 0; i < static_cast<uint32_t>(PartName::count); ++i) {
    EXPECT_EQ(view->part(static_cast<PartName>(i))[63], static_cast<std::byte>(i + 1));
  }
}

TEST(ControlSegment, a_part_outside_the_segment_is_refused) {
  auto segment = ControlSegment::create();
  ASSERT_TRUE(segment);
  for (uint64_t offset : std::initializer_list<uint64_t>{segment->size().value, ~0ull & ~4095ull, 8}) {
    PartTable parts = segment->parts();
    parts[2].offset = offset;
    auto view = ControlSegmentView::open(UniqueFd(::dup(segment->fd().get())), segment->size(), parts);
    ASSERT_FALSE(view);
    EXPECT_EQ(view.error().code, ExitCode::protocol_mismatch);
  }
}

TEST(Handshake, the_service_learns_memory_parts_and_options) {
  auto ends = ControlSocket::pair();
  ASSERT_TRUE(ends);
  auto segment = ControlSegment::create();
  ASSERT_TRUE(segment);
  auto arena = make_memory_file("arena", kArena);
  ASSERT_TRUE(arena);
  const RunOptions options{true, true, "/tmp/frames", 30, "raymarch"};
  std::string device;
  std::thread guest([&] {
    auto answer = greet_service(ends->first, *arena, kArena, *segment, 3, options, 5000);
    ASSERT_TRUE(answer) << answer.error().describe();
    device = *answer;
  });
  auto hello = greet_guest(ends->second, "some device", 5000);
  guest.join();
  ASSERT_TRUE(hello) << hello.error().describe();
  EXPECT_EQ(device, "some device");
  EXPECT_EQ(hello->life, 3u);
  EXPECT_EQ(hello->arena_size, kArena);
  EXPECT_EQ(hello->options.keep_frames_directory, "/tmp/frames");
  EXPECT_EQ(hello->options.keep_every, 30u);
  EXPECT_TRUE(hello->options.headless && hello->options.logical_clock);
  EXPECT_EQ(hello->options.title, "raymarch");
  EXPECT_TRUE(ControlSegmentView::open(std::move(hello->segment), hello->segment_size, hello->parts));
}

TEST(Handshake, a_peer_that_hangs_up_is_noticed_at_once) {
  auto ends = ControlSocket::pair();
  ASSERT_TRUE(ends);
  {
    ControlSocket gone = std::move(ends->first);
  }
  auto hello = greet_guest(ends->second, "device", 10000);
  ASSERT_FALSE(hello);
  EXPECT_EQ(hello.error().code, ExitCode::peer_gone);
}

TEST(Handshake, random_bytes_for_a_greeting_are_an_error) {
  auto segment = ControlSegment::create();
  auto arena = make_memory_file("arena", kArena);
  ASSERT_TRUE(segment && arena);
  std::mt19937 random(17);
  for (int round = 0; round < 500; ++round) {
    auto ends = ControlSocket::pair();
    ASSERT_TRUE(ends);
    std::vector<std::byte> noise(1 + random() % 200);
    for (auto& b : noise) b = static_cast<std::byte>(round % 2 == 0 ? random() : random() % 4);
    const int fds[] = {arena->get(), segment->fd().get()};
    ASSERT_TRUE(ends->first.send(noise, fds));
    auto hello = greet_guest(ends->second, "device", 1000);
    ASSERT_FALSE(hello);
    EXPECT_EQ(hello.error().code, ExitCode::protocol_mismatch) << hello.error().describe();
  }
}

}  // namespace
}  // namespace orrery::protocol
