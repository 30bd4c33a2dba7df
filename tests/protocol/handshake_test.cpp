#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <cstring>
#include <random>
#include <thread>

#include "protocol/control_segment.hpp"
#include "protocol/control_socket.hpp"
#include "protocol/messages.capnp.h"
#include "protocol/stretch.hpp"

namespace orrery::protocol {
namespace {

constexpr Bytes kArena{1 << 20};

const UniqueFd& redo_memory() {
  static const UniqueFd file = std::move(*make_memory_file("redo", redo_memory_size(kArena)));
  return file;
}

// A greeting without parts, as another build might send it.
std::vector<std::byte> greeting_of(uint32_t version, const char* build) {
  capnp::MallocMessageBuilder message;
  auto hello = message.initRoot<wire::Hello>();
  hello.setVersion(version);
  hello.setBuildId(build);
  hello.setDeviceName("their device");
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.begin());
  return {begin, begin + bytes.size()};
}

TEST(ControlSegment, a_view_sees_what_the_owner_wrote_in_each_part) {
  auto segment = ControlSegment::create();
  ASSERT_TRUE(segment) << segment.error().describe();
  for (uint32_t i = 0; i < static_cast<uint32_t>(PartName::count); ++i) {
    auto part = segment->part(static_cast<PartName>(i));
    // Ready before anybody is told of it.
    const bool formatted = static_cast<PartName>(i) == PartName::measures;
    EXPECT_EQ(part[0] == std::byte{0}, !formatted) << name_of(static_cast<PartName>(i));
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
    auto answer = greet_service(ends->first, {*arena, kArena, redo_memory()}, *segment, 3, options, 5000);
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

TEST(Handshake, the_guest_s_pagemap_arrives_where_it_has_one) {
  auto segment = ControlSegment::create();
  auto arena = make_memory_file("arena", kArena);
  UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(segment && arena && pagemap);
  for (const bool offered : {true, false}) {
    auto ends = ControlSocket::pair();
    ASSERT_TRUE(ends);
    std::jthread guest([&] {
      const OfferedMemory memory{*arena, kArena, redo_memory(), offered ? &pagemap : nullptr};
      EXPECT_TRUE(greet_service(ends->first, memory, *segment, 1, {}, 5000));
    });
    auto hello = greet_guest(ends->second, "device", 5000);
    ASSERT_TRUE(hello) << hello.error().describe();
    EXPECT_EQ(static_cast<bool>(hello->pagemap), offered);
  }
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

TEST(Handshake, another_protocol_version_is_a_mismatch_that_names_both) {
  auto segment = ControlSegment::create();
  auto arena = make_memory_file("arena", kArena);
  ASSERT_TRUE(segment && arena);
  const uint32_t theirs = wire::PROTOCOL_VERSION + 41;
  const auto named = [&](const Error& error) {
    const std::string text = error.describe();
    EXPECT_EQ(error.code, ExitCode::protocol_mismatch);
    for (const std::string& part :
         {fmt::format("(build {}) speaks protocol {},", build_id(), static_cast<uint32_t>(wire::PROTOCOL_VERSION)),
          fmt::format("the other (build other-build) speaks {};", theirs)}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  };
  auto ends = ControlSocket::pair();
  ASSERT_TRUE(ends);
  const int fds[] = {arena->get(), segment->fd().get()};
  ASSERT_TRUE(ends->first.send(greeting_of(theirs, "other-build"), fds));
  auto hello = greet_guest(ends->second, "device", 5000);
  ASSERT_FALSE(hello);
  named(hello.error());

  auto others = ControlSocket::pair();
  ASSERT_TRUE(others);
  ASSERT_TRUE(others->second.send(greeting_of(theirs, "other-build")));
  auto answer = greet_service(others->first, {*arena, kArena, redo_memory()}, *segment, 1, {}, 5000);
  ASSERT_FALSE(answer);
  named(answer.error());
}

TEST(Handshake, another_build_of_the_same_protocol_is_welcome) {
  auto segment = ControlSegment::create();
  auto arena = make_memory_file("arena", kArena);
  auto ends = ControlSocket::pair();
  ASSERT_TRUE(segment && arena && ends);
  ASSERT_TRUE(ends->second.send(greeting_of(wire::PROTOCOL_VERSION, "other-build")));
  auto answer = greet_service(ends->first, {*arena, kArena, redo_memory()}, *segment, 1, {}, 5000);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(*answer, "their device");
}

TEST(Handshake, a_build_has_a_name) {
  EXPECT_FALSE(build_id().empty());
  EXPECT_NE(build_id(), "unversioned");
}

}  // namespace
}  // namespace orrery::protocol
