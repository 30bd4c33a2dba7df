#include <gtest/gtest.h>
#include <cstring>
#include <thread>

#include "guest-host/hle/equeue/event_queues.hpp"
#include "guest-host/hle/video_out/video_out.hpp"
#include "tests/guest-host/hle/console_run.hpp"
#include "tests/guest-host/hle/fake_service.hpp"

namespace orrery::hle::video_out {
namespace {

using test::ConsoleRun;

// A display with two registered linear buffers; without a link flips are done at once.
struct Display {
  ConsoleRun run;
  GuestAddress page = run.allocate(0x4000), pixels = run.allocate(0x40000);
  uint64_t port = 0;
  explicit Display(test::RunSettings settings = {}) : run(settings) {
    port = static_cast<uint64_t>(run.call32("sceVideoOutOpen", {0xff, 0, 0, 0}));
    EXPECT_EQ(run.call32("sceVideoOutSetBufferAttribute2", {page.value, 0x8000000000000000, 1, 256, 128, 0, 0, 0}), 0);
    run.write(page + Bytes{0x100}, std::array<uint64_t, 8>{pixels.value, 0, 0, 0, pixels.value + 0x20000, 0, 0, 0});
    EXPECT_EQ(run.call32("sceVideoOutRegisterBuffers2", {port, 0, 0, page.value + 0x100, 2, page.value, 0, 0}), 0);
  }
  int32_t flip(int64_t buffer, uint64_t argument) {
    return run.call32("sceVideoOutSubmitFlip", {port, static_cast<uint64_t>(buffer), 1, argument});
  }
  FlipStatus status() {
    EXPECT_EQ(run.call32("sceVideoOutGetFlipStatus", {port, page.value + 0x200}), 0);
    return run.read<FlipStatus>(page + Bytes{0x200});
  }
  uint64_t label(uint32_t buffer) { return run.read<uint64_t>(flip_label(buffer)); }
};

TEST(VideoOut, the_attribute_block_has_the_measured_layout_and_size) {
  ConsoleRun run;
  const GuestAddress page = run.allocate(0x4000);
  std::array<uint8_t, 0x60> before;
  before.fill(0xcc);
  run.write(page, before);
  run.call("sceVideoOutSetBufferAttribute2", {page.value, 0x8000000000000000, 1, 1920, 1080, 7, 9, 8});
  const auto bytes = run.read<std::array<uint8_t, 0x60>>(page);
  const auto word = [&](size_t at) {
    uint32_t value;
    std::memcpy(&value, bytes.data() + at, 4);
    return value;
  };
  EXPECT_EQ(word(0x04), 1u);
  EXPECT_EQ(word(0x0c), 1920u);
  EXPECT_EQ(word(0x10), 1080u);
  EXPECT_EQ(word(0x18), 7u);
  EXPECT_EQ(word(0x24), 0x80000000u);
  EXPECT_EQ(word(0x28), 8u);
  EXPECT_EQ(word(0x30), 9u);
  EXPECT_EQ(word(0x4c), 0u);
  EXPECT_EQ(bytes[0x50], 0xcc);
}

TEST(VideoOut, a_completed_flip_is_counted_labelled_and_announced) {
  Display d;
  const GuestAddress queue_at = d.page + Bytes{0x300};
  ASSERT_EQ(d.run.call32("sceKernelCreateEqueue", {queue_at.value, 0}), 0);
  const uint64_t queue = d.run.read<uint64_t>(queue_at);
  ASSERT_EQ(d.run.call32("sceVideoOutAddFlipEvent", {queue, d.port, 0x55}), 0);
  ASSERT_EQ(d.flip(0, 0x1234), 0);
  EXPECT_EQ(d.status().completed, 1u);
  EXPECT_EQ(d.status().flip_argument, 0x1234);
  EXPECT_EQ(d.status().current_buffer, 0);
  EXPECT_EQ(d.label(0), 1u);
  ASSERT_EQ(d.run.call32("sceKernelWaitEqueue", {queue, queue_at.value + 64, 1, queue_at.value + 8, 0}), 0);
  const auto event = d.run.read<equeue::KernelEvent>(queue_at + Bytes{64});
  EXPECT_EQ(event.ident, 0x0006010000000000u);
  EXPECT_EQ(event.filter, -13);
  EXPECT_EQ(event.flags, 0x20);
  EXPECT_EQ(event.data, 0x1234ll << 16);
  EXPECT_EQ(event.user_data, 0x55u);
  ASSERT_EQ(d.flip(1, 1), 0);
  EXPECT_EQ(d.label(0), 0u) << "the buffer left the screen";
  EXPECT_EQ(d.label(1), 1u);
}

TEST(VideoOut, bad_handles_sizes_and_indices_get_their_errors) {
  Display d;
  const auto u = [](int32_t v) { return static_cast<uint32_t>(v); };
  EXPECT_EQ(u(d.run.call32("sceVideoOutSubmitFlip", {d.port + 1, 0, 1, 0})), 0x8029000bu);
  EXPECT_EQ(u(d.run.call32("sceVideoOutGetFlipStatus", {99, d.page.value})), 0x8029000bu);
  EXPECT_EQ(u(d.flip(2, 0)), 0x8029000au);
  EXPECT_EQ(u(d.flip(-1, 0)), 0x8029000au);
  EXPECT_EQ(u(d.run.call32("sceVideoOutGetFlipStatus", {d.port, 4})), 0x80290002u);
  d.run.call("sceVideoOutSetBufferAttribute2", {d.page.value, 0x8000000000000000, 0, 1280, 720, 0, 0, 0});
  EXPECT_EQ(u(d.run.call32("sceVideoOutRegisterBuffers2", {d.port, 1, 2, d.page.value + 0x100, 2, d.page.value, 0, 0})),
            0x80290005u);
  EXPECT_LT(d.run.call32("sceVideoOutOpen", {0xff, 0, 0, 0}), 0) << "a second time";
  EXPECT_EQ(d.run.call32("sceVideoOutClose", {d.port}), 0);
  EXPECT_EQ(u(d.flip(0, 0)), 0x8029000bu);
}

// A display whose flips go to a service that may hold them back.
struct Linked {
  test::FakeLauncher launcher;
  UniqueFd arena = std::move(*make_memory_file("arena", Bytes{1 << 20}));
  std::unique_ptr<link::Link> link = std::move(*link::Link::create(launcher.guest_end(), arena, Bytes{1 << 20}, {}));
  Display display;
  explicit Linked(test::RunSettings settings = {}) : display(with_link(settings)) {
    link->start(display.run.console());
  }
  ~Linked() {
    display.run.console().stop();
    link.reset();
  }
  test::RunSettings with_link(test::RunSettings settings) {
    settings.link = link.get();
    return settings;
  }
};

TEST(VideoOut, a_flip_is_a_journal_entry_and_done_when_the_service_has_shown_it) {
  Linked linked;
  ASSERT_EQ(linked.display.flip(1, 42), 0);
  EXPECT_EQ(linked.display.status().completed, 0u);
  EXPECT_EQ(linked.display.run.call32("sceVideoOutIsFlipPending", {linked.display.port}), 1);
  auto service = linked.launcher.start_service(1);
  ASSERT_TRUE(test::eventually([&] { return linked.display.status().completed == 1; }));
  const auto entries = service->executed();
  ASSERT_EQ(entries.size(), 1u);
  protocol::FlipBody body;
  ASSERT_EQ(entries[0].body.size(), sizeof body);
  std::memcpy(&body, entries[0].body.data(), sizeof body);
  EXPECT_EQ(body.guest_address, linked.display.pixels.value + 0x20000);
  EXPECT_EQ(body.width, 256u);
  EXPECT_EQ(body.height, 128u);
  EXPECT_EQ(body.pitch, 256u);
  EXPECT_EQ(body.tiling, 1u);
  EXPECT_EQ(body.pixel_format, 0x8000000000000000u);
  EXPECT_EQ(body.flip_argument, 42);
  EXPECT_EQ(body.flip_index, 0u);
}

TEST(VideoOut, in_logical_time_a_flip_is_done_at_the_next_blank_once_the_title_waits) {
  Linked linked({.logical_clock = true});
  auto& run = linked.display.run;
  auto service = linked.launcher.start_service(1);
  EXPECT_EQ(run.call("sceKernelGetProcessTime", {}), 0u);
  ASSERT_EQ(linked.display.flip(0, 0), 0);
  EXPECT_EQ(service->executed().size(), 1u) << "shown before the call returned";
  EXPECT_EQ(linked.display.status().completed, 0u);
  EXPECT_EQ(run.call("sceKernelGetProcessTime", {}), 0u);
  run.call("sceKernelUsleep", {16'666});
  EXPECT_EQ(linked.display.status().completed, 0u);
  run.call("sceKernelUsleep", {1});
  EXPECT_EQ(linked.display.status().completed, 1u);
  EXPECT_EQ(linked.display.status().process_time_us, 16'666u);
  EXPECT_EQ(linked.display.status().ticks, 16'666'666u);
  // The flip queue holds a few; who submits more waits for blanks.
  for (uint64_t i = 2; i <= 60; ++i) ASSERT_EQ(linked.display.flip(i % 2, i), 0);
  while (linked.display.status().completed < 60) run.call("sceVideoOutWaitVblank", {linked.display.port});
  EXPECT_EQ(run.call("sceKernelReadTsc", {}), 1'000'000'000u);
}

TEST(VideoOut, in_logical_time_a_title_that_only_asks_whether_its_flip_is_done_gets_its_answer) {
  Linked linked({.logical_clock = true});
  auto service = linked.launcher.start_service(1);
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(linked.display.flip(i % 2, i), 0);
    while (linked.display.run.call32("sceVideoOutIsFlipPending", {linked.display.port}) != 0) {
    }
  }
  EXPECT_EQ(linked.display.status().completed, 3u);
  const uint64_t time = linked.display.run.call("sceKernelGetProcessTime", {});
  EXPECT_GE(time, 50'000u);
  EXPECT_LE(time, 50'300u) << "three frames and what asking costs";
}

TEST(VideoOut, in_logical_time_a_flip_waits_for_a_service_that_dies_and_for_the_next) {
  Linked linked({.logical_clock = true});
  bool first_ran = false;
  test::ServiceScript holding;
  holding.execute = [&](const protocol::EntryCopy&) {
    first_ran = true;
    return false;
  };
  auto first = linked.launcher.start_service(1, holding);
  std::unique_ptr<test::FakeService> second;
  std::thread other([&] {
    EXPECT_TRUE(test::eventually([&] { return first->executed().size() == 1; }));
    first->die();
    second = linked.launcher.start_service(2);
  });
  ASSERT_EQ(linked.display.flip(0, 0), 0);
  linked.display.run.call("sceVideoOutWaitVblank", {linked.display.port});
  other.join();
  EXPECT_TRUE(first_ran);
  while (linked.display.status().completed == 0)
    linked.display.run.call("sceVideoOutWaitVblank", {linked.display.port});
  EXPECT_EQ(second->executed().size(), 1u);
}

TEST(VideoOut, the_run_ends_after_the_frames_that_were_asked_for_and_no_more_are_sent) {
  Linked linked({.frames = 3});
  auto service = linked.launcher.start_service(1);
  std::thread title([&] {
    for (uint64_t i = 0; i < 10; ++i) {
      if (linked.display.flip(i % 2, i) != 0) return;
    }
  });
  EXPECT_EQ(linked.display.run.process().wait_for_end().exit_code, 0);
  linked.display.run.console().stop();
  title.join();
  EXPECT_EQ(service->executed().size(), 3u);
}

TEST(VideoOut, with_a_window_a_flip_waits_for_the_vertical_blank_in_order) {
  Linked linked({.headless = false});
  auto service = linked.launcher.start_service(1);
  for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(linked.display.flip(i % 2, i), 0);
  ASSERT_TRUE(test::eventually([&] { return linked.display.status().completed == 5; }));
  EXPECT_EQ(linked.display.status().flip_argument, 4);
}

TEST(VideoOut, a_flip_asked_for_by_the_gpu_is_sent_once) {
  Linked linked;
  auto& run = linked.display.run;
  const GuestAddress object = run.allocate(0x4000), buffer = run.allocate(0x4000);
  run.write(object, std::array<uint64_t, 7>{buffer.value, buffer.value + 0x4000, buffer.value, buffer.value + 0x4000});
  ASSERT_EQ(run.call("sceAgcDcbSetFlip", {object.value, linked.display.port, 1, 1, 9}), buffer.value);
  auto service = linked.launcher.start_service(1);
  service->say_queue_event(0, 0x08000101);
  service->say_queue_event(0, 0x08000101);  // a later life may say it again
  ASSERT_TRUE(test::eventually([&] { return linked.display.status().completed == 1; }));
  EXPECT_EQ(linked.display.status().flip_argument, 9);
  ASSERT_EQ(linked.display.flip(0, 1), 0);
  ASSERT_TRUE(test::eventually([&] { return linked.display.status().completed == 2; }));
  EXPECT_EQ(service->executed().size(), 2u);
}

TEST(VblankPacer, blanks_are_a_sixtieth_of_a_second_apart_without_drift) {
  const auto start = std::chrono::steady_clock::time_point{};
  auto at = start;
  for (int i = 0; i < 60; ++i) at = next_vblank(start, at);
  EXPECT_EQ(at, start + std::chrono::seconds(1));
  EXPECT_EQ(next_vblank(start, start + std::chrono::hours(1000)) - start - std::chrono::hours(1000),
            std::chrono::nanoseconds(16'666'667));
}

}  // namespace
}  // namespace orrery::hle::video_out
