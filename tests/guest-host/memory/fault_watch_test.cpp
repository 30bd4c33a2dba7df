// Tracking by faults: the handler of this test is the one that the guest process has.
#include "guest-host/memory/fault_watch.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include "guest-host/memory/guest_memory.hpp"

namespace orrery::memory {
namespace {

FaultWatch* watched = nullptr;
std::atomic<int> faults{0};

void on_fault(int, siginfo_t* info, void*) {
  if (watched->on_write_fault(reinterpret_cast<uint64_t>(info->si_addr))) {
    ++faults;
    return;
  }
  ::signal(SIGSEGV, SIG_DFL);
}

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    watch_.emplace(FaultWatch::create().value());
    states_ = Mapping::of(watch_->states(), {0}, {protocol::kPageStateBytes}).value();
    memory_ = GuestMemory::create({256 << 20}).value();
    old_ = memory_->map({.kind = MapKind::heap, .size = {kGuestPage}}).value();
    memory_->watch_by_faults(*watch_);
    watched = &*watch_;
    faults = 0;
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before_);
  }
  void TearDown() override { ::sigaction(SIGSEGV, &before_, nullptr); }
  uint8_t state(GuestAddress at) {
    return std::atomic_ref(*reinterpret_cast<uint8_t*>(states_.data() + at.value / 4096)).load();
  }
  bool written(GuestAddress at) { return (state(at) & protocol::kPageWritten) != 0; }
  static void store(GuestAddress at, uint32_t value = 7) {
    std::atomic_ref(*reinterpret_cast<uint32_t*>(at.value)).store(value, std::memory_order_relaxed);
  }

  std::optional<FaultWatch> watch_;
  Mapping states_;
  std::unique_ptr<GuestMemory> memory_;
  GuestAddress old_;
  struct sigaction before_{};
};

TEST_F(Faults, the_first_write_to_an_armed_page_faults_and_is_noted) {
  const GuestAddress at = memory_->map({.kind = MapKind::flexible, .size = {4 * kGuestPage}}).value();
  EXPECT_TRUE(written(at)) << "what was never armed counts as written";
  memory_->arm(at, at + Bytes{4 * kGuestPage});
  EXPECT_FALSE(written(at + Bytes{4096}));
  store(at + Bytes{4100});
  store(at + Bytes{4200});
  EXPECT_EQ(faults, 1);
  EXPECT_TRUE(written(at + Bytes{4096}));
  EXPECT_FALSE(written(at));
  memory_->arm(at, at + Bytes{4 * kGuestPage});
  store(at + Bytes{4100}, 9);
  EXPECT_EQ(faults, 2);
  EXPECT_EQ(memory_->read_value<uint32_t>(at + Bytes{4100}).value(), 9u);
}

TEST_F(Faults, our_own_copies_into_guest_memory_are_noted_too) {
  memory_->arm(old_, old_ + Bytes{kGuestPage});
  ASSERT_TRUE(memory_->write_value(old_ + Bytes{8}, uint64_t{1}));
  EXPECT_TRUE(written(old_));
  EXPECT_EQ(faults, 1);
}

TEST_F(Faults, windows_of_the_same_memory_are_armed_one_by_one) {
  const ArenaOffset offset =
      memory_->allocate_direct({0}, {memory_->direct_size().value}, {kGuestPage}, {kGuestPage}).value();
  const GuestAddress a = memory_->map({.kind = MapKind::direct, .size = {kGuestPage}, .offset = offset}).value();
  const GuestAddress b = memory_->map({.kind = MapKind::direct, .size = {kGuestPage}, .offset = offset}).value();
  memory_->arm(a, a + Bytes{kGuestPage});
  memory_->arm(b, b + Bytes{kGuestPage});
  store(b);
  EXPECT_FALSE(written(a));
  EXPECT_TRUE(written(b));
}

TEST_F(Faults, memory_that_the_title_may_not_write_stays_the_title_s_fault) {
  const GuestAddress at =
      memory_->map({.kind = MapKind::flexible, .size = {kGuestPage}, .protection = kCpuRead}).value();
  memory_->arm(at, at + Bytes{kGuestPage});
  EXPECT_FALSE(watch_->on_write_fault(at.value));
  EXPECT_FALSE(watch_->on_write_fault(0x10));
  EXPECT_FALSE(watch_->on_write_fault(1ull << 47));
  ASSERT_TRUE(memory_->protect(at, {kGuestPage}, kCpuRead | kCpuWrite));
  EXPECT_TRUE(written(at)) << "a new protection is not armed";
  store(at);
  ASSERT_TRUE(memory_->unmap(at, {kGuestPage}));
  EXPECT_EQ(state(at), 0);
  EXPECT_FALSE(watch_->on_write_fault(at.value));
}

TEST_F(Faults, code_stays_executable_while_it_is_armed) {
  const GuestAddress at =
      memory_->map({.kind = MapKind::flexible, .size = {kGuestPage}, .protection = kCpuRead | kCpuWrite | kCpuExecute})
          .value();
  const uint8_t code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret
  ASSERT_TRUE(memory_->write(at, std::as_bytes(std::span(code))));
  memory_->arm(at, at + Bytes{kGuestPage});
  EXPECT_EQ(reinterpret_cast<int (*)()>(at.value)(), 42);
  store(at + Bytes{64});
  EXPECT_EQ(reinterpret_cast<int (*)()>(at.value)(), 42);
}

TEST_F(Faults, threads_that_write_while_pages_are_armed_lose_nothing) {
  constexpr uint64_t kPages = 64;
  const GuestAddress at = memory_->map({.kind = MapKind::flexible, .size = {kPages * 4096}}).value();
  std::atomic<bool> stop{false};
  std::vector<std::jthread> writers;
  for (uint64_t t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      for (uint32_t n = 0; !stop; ++n) store(at + Bytes{(n * 7 + t) % kPages * 4096 + 4 * t}, n);
    });
  }
  // The copy follows by the rule: arm what is noted, then copy it.
  std::vector<std::byte> copy(kPages * 4096);
  const auto round = [&] {
    for (uint64_t page = 0; page < kPages; ++page) {
      const GuestAddress here = at + Bytes{page * 4096};
      if (!written(here)) continue;
      memory_->arm(here, here + Bytes{4096});
      std::memcpy(copy.data() + page * 4096, reinterpret_cast<void*>(here.value), 4096);
    }
  };
  while (faults < 2000) round();
  stop = true;
  writers.clear();
  round();
  EXPECT_EQ(std::memcmp(copy.data(), reinterpret_cast<void*>(at.value), copy.size()), 0);
}

TEST(ArmRequests, are_served_in_order_and_nonsense_is_left_out) {
  std::vector<std::byte> part(sizeof(protocol::ArmRequests));
  std::vector<uint64_t> armed;
  std::jthread server([&](const std::stop_token& stop) {
    protocol::ArmServer serving(part);
    while (!stop.stop_requested()) {
      serving.serve(std::chrono::milliseconds(10),
                    [&](const protocol::GuestRange& range) { armed.push_back(range.begin); });
    }
  });
  protocol::ArmRequester requester(part);
  std::vector<protocol::GuestRange> ranges;
  for (uint64_t n = 0; n < 3000; ++n) ranges.push_back({n * 4096, (n + 1) * 4096});
  ranges.push_back({5, 4096});
  ranges.push_back({8192, 4096});
  ranges.push_back({1ull << 40, (1ull << 40) + 4096});
  ASSERT_TRUE(requester.arm(ranges, std::chrono::seconds(20)));
  server.request_stop();
  server.join();
  ASSERT_EQ(armed.size(), 3000u);
  EXPECT_TRUE(std::ranges::is_sorted(armed));
  EXPECT_FALSE(requester.arm(ranges, std::chrono::milliseconds(20))) << "nobody serves any more";
}

}  // namespace
}  // namespace orrery::memory
