#include <gtest/gtest.h>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>

#include "guest-host/link/link.hpp"
#include "tests/guest-host/hle/fake_service.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using hle::test::eventually;
using hle::test::FakeLauncher;
using hle::test::FakeService;
using hle::test::ServiceScript;

class Recorder : public Listener {
 public:
  void retired(uint64_t sequence, protocol::EntryKind) override {
    const std::lock_guard lock(mutex_);
    done_.push_back(sequence);
  }
  void queue_event(uint32_t, uint32_t context_id) override { last_context = context_id; }
  void input(const PadInput& pad) override { buttons = pad.buttons; }
  void window_closed() override { closed = true; }
  void run_must_end(const Error& why) override { ended_with = static_cast<int>(why.code); }
  std::vector<uint64_t> done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  std::atomic<uint32_t> last_context{0}, buttons{0};
  std::atomic<bool> closed{false};
  std::atomic<int> ended_with{0};

 private:
  mutable std::mutex mutex_;
  std::vector<uint64_t> done_;
};

struct Bench {
  FakeLauncher launcher;
  UniqueFd arena = std::move(*make_memory_file("arena", Bytes{1 << 20}));
  Recorder listener;
  std::unique_ptr<Link> link;
  explicit Bench(std::chrono::milliseconds exit_wait = 10s) {
    LinkOptions options;
    options.exit_wait = exit_wait;
    link = std::move(*Link::create(launcher.guest_end(), arena, Bytes{1 << 20}, options));
    link->start(listener);
  }
  uint64_t submit(uint8_t content = 0) {
    const std::array<std::byte, 16> body{std::byte{content}};
    const std::span<const std::byte> piece = body;
    return *link->submissions().submit(EntryKind::submission, 0, 0ns, std::span(&piece, 1));
  }
  bool all_done(size_t count) {
    return eventually([&] { return listener.done().size() == count; });
  }
};

std::vector<uint64_t> up_to(uint64_t last) {
  std::vector<uint64_t> all;
  for (uint64_t i = 1; i <= last; ++i) all.push_back(i);
  return all;
}

TEST(Link, a_service_is_greeted_fed_and_heard) {
  Bench s;
  auto service = s.launcher.start_service(1);
  EXPECT_EQ(s.launcher.receive(), "ready");
  EXPECT_TRUE(eventually([&] { return service->life() == 1; }));
  for (int i = 0; i < 100; ++i) s.submit();
  ASSERT_TRUE(s.all_done(100));
  EXPECT_EQ(s.listener.done(), up_to(100));
  service->say_queue_event(2, 77);
  service->say_input({0x8000, 0, 0, 0, 0, 0, 0});
  service->say_refusal("packet", "opcode 0xff", 3);
  service->say_window_closed();
  EXPECT_TRUE(eventually([&] { return s.listener.closed.load(); }));
  EXPECT_EQ(s.listener.last_context, 77u);
  EXPECT_EQ(s.listener.buttons, 0x8000u);
  EXPECT_EQ(s.link->refusal_summary(), "  3 x packet: opcode 0xff\n");
}

TEST(Link, what_is_submitted_before_a_service_lives_is_run_by_the_first) {
  Bench s;
  for (int i = 0; i < 5; ++i) s.submit();
  auto service = s.launcher.start_service(1);
  ASSERT_TRUE(s.all_done(5));
  EXPECT_EQ(service->executed().size(), 5u);
}

TEST(Link, a_service_that_dies_is_replaced_and_its_open_entries_run_again_once_each_is_reported) {
  Bench s;
  std::atomic<int> allowed{3};
  ServiceScript script;
  script.execute = [&](const protocol::EntryCopy&) { return allowed.fetch_sub(1) > 0; };
  auto first = s.launcher.start_service(1, script);
  for (int i = 0; i < 10; ++i) s.submit();
  ASSERT_TRUE(eventually([&] { return first->executed().size() == 10; }));
  first->die();
  s.submit();  // while nobody is there
  auto second = s.launcher.start_service(2);
  ASSERT_TRUE(s.all_done(11));
  EXPECT_EQ(s.listener.done(), up_to(11));
  EXPECT_EQ(second->executed().size(), 8u);
  EXPECT_EQ(second->executed().front().sequence, 4u);
  EXPECT_EQ(s.link->lives(), 2u);
}

TEST(Link, what_a_service_executed_before_it_died_counts) {
  Bench s;
  auto service = s.launcher.start_service(1);
  s.submit();
  ASSERT_TRUE(eventually([&] { return service->executed().size() == 1; }));
  service->die();
  ASSERT_TRUE(s.all_done(1));
}

TEST(Link, keys_that_were_held_when_a_service_died_are_released) {
  Bench s;
  auto service = s.launcher.start_service(1);
  service->say_input({0x8000, 0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(eventually([&] { return s.listener.buttons == 0x8000u; }));
  service->die();
  EXPECT_TRUE(eventually([&] { return s.listener.buttons == 0u; }));
}

TEST(Link, many_lives_lose_and_repeat_nothing) {
  Bench s;
  std::mt19937 random(3);
  std::atomic<bool> stop{false};
  std::thread title([&] {
    for (int i = 0; i < 400; ++i) {
      s.submit();
      std::this_thread::sleep_for(200us);
    }
    stop = true;
  });
  uint32_t life = 1;
  while (!stop) {
    std::atomic<int> allowed{static_cast<int>(random() % 40)};
    ServiceScript script;
    script.execute = [&allowed](const protocol::EntryCopy&) { return allowed.fetch_sub(1) > 0; };
    auto service = s.launcher.start_service(life++, script);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 15));
    service->die();
  }
  title.join();
  auto last = s.launcher.start_service(life);
  ASSERT_TRUE(s.all_done(400));
  EXPECT_EQ(s.listener.done(), up_to(400));
}

TEST(Link, a_service_that_talks_nonsense_is_hung_up_on_and_the_next_one_serves) {
  Bench s;
  auto service = s.launcher.start_service(1);
  EXPECT_EQ(s.launcher.receive(), "ready");
  const std::array<std::byte, 24> noise{std::byte{0x55}, std::byte{0xff}};
  service->say_bytes(noise);
  service->say_bytes(std::array<std::byte, 3>{});
  auto second = s.launcher.start_service(2);
  EXPECT_EQ(s.launcher.receive(), "ready");
  s.submit();
  ASSERT_TRUE(s.all_done(1));
}

TEST(Link, an_orderly_end_tells_launcher_and_service) {
  Bench s;
  auto service = s.launcher.start_service(1);
  EXPECT_EQ(s.launcher.receive(), "ready");
  s.submit();
  const EndReport report = s.link->finish(7);
  EXPECT_TRUE(report.unfinished.empty());
  EXPECT_EQ(s.launcher.receive(), "done 7");
  EXPECT_TRUE(eventually([&] { return service->saw_shutdown(); }));
}

TEST(Link, what_a_title_submits_after_its_end_waits_and_is_not_run) {
  Bench s;
  auto service = s.launcher.start_service(1);
  EXPECT_EQ(s.launcher.receive(), "ready");
  s.submit();
  s.link->submissions().close();
  std::thread title([&] {
    const std::span<const std::byte> nothing;
    EXPECT_FALSE(s.link->submissions().submit(EntryKind::submission, 0, 0ns, std::span(&nothing, 1)));
  });
  s.link->finish(0);
  title.join();
  EXPECT_EQ(s.link->submissions().submitted(), 1u);
}

TEST(Link, an_end_while_the_gpu_is_busy_says_what_is_unfinished) {
  Bench s(200ms);
  ServiceScript script;
  script.execute = [](const protocol::EntryCopy&) { return false; };
  auto service = s.launcher.start_service(1, script);
  EXPECT_EQ(s.launcher.receive(), "ready");
  s.submit();
  s.submit();
  const EndReport report = s.link->finish(0);
  EXPECT_EQ(report.unfinished, up_to(2));
  EXPECT_EQ(s.launcher.receive(), "done 0");
}

TEST(Link, a_launcher_that_is_gone_ends_the_run_and_the_wait_at_its_end) {
  Bench s(60s);
  s.submit();
  s.launcher.hang_up();
  EXPECT_TRUE(eventually([&] { return s.listener.ended_with == static_cast<int>(ExitCode::peer_gone); }));
  const EndReport report = s.link->finish(0);
  EXPECT_TRUE(report.launcher_gone);
  EXPECT_EQ(report.unfinished, up_to(1));
}

TEST(Link, packets_of_a_launcher_that_are_not_understood_are_ignored) {
  Bench s;
  s.launcher.send("hello");
  s.launcher.send("service x y");
  s.launcher.send("service 1 2");  // without a descriptor
  auto service = s.launcher.start_service(1);
  EXPECT_EQ(s.launcher.receive(), "ready");
}

}  // namespace
}  // namespace orrery::link
