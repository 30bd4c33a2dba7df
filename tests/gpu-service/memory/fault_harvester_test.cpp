// The service's half of tracking by faults, against a guest process that a thread plays.
#include <gtest/gtest.h>
#include <atomic>
#include <thread>

#include "gpu-service/memory/harvester.hpp"
#include "protocol/page_states.hpp"

namespace orrery::memory {
namespace {

using Ranges = std::vector<ArenaRange>;
constexpr uint64_t kBase = 0x40'0000'0000;
ArenaRange page(uint64_t number, uint64_t count = 1) { return {number * kHostPage, (number + count) * kHostPage}; }

class FaultHarvesting : public testing::Test {
 protected:
  void SetUp() override {
    file_ = make_memory_file("states", {protocol::kPageStateBytes}).value();
    states_ = Mapping::of(file_, {0}, {protocol::kPageStateBytes}).value();
    harvester_ = make_fault_harvester(file_, part_).value();
    // Arena pages 0 to 15, and 8 to 11 once more.
    harvester_->map_changed(std::vector<protocol::MapEntry>{
        {kBase, 16 * kHostPage, 0, 0x33, 4}, {kBase + (1 << 20), 4 * kHostPage, 8 * kHostPage, 0x33, 4}});
    for (uint64_t n = 0; n < 16; ++n) state(kBase + n * kHostPage) = protocol::kPageMapped | protocol::kPageWritten;
    for (uint64_t n = 0; n < 4; ++n) state(alias(n)) = protocol::kPageMapped | protocol::kPageWritten;
  }
  static uint64_t alias(uint64_t number) { return kBase + (1 << 20) + number * kHostPage; }
  std::atomic_ref<uint8_t> state(uint64_t address) {
    return std::atomic_ref(*reinterpret_cast<uint8_t*>(states_.data() + address / kHostPage));
  }
  void serve() {
    guest_ = std::jthread([this](const std::stop_token& stop) {
      protocol::ArmServer server(part_);
      while (!stop.stop_requested()) {
        server.serve(std::chrono::milliseconds(5), [&](const protocol::GuestRange& range) {
          for (uint64_t at = range.begin; at < range.end; at += kHostPage) {
            state(at) = protocol::kPageMapped | protocol::kPageArmed;
          }
        });
      }
    });
  }
  void write(uint64_t address) { state(address) = protocol::kPageMapped | protocol::kPageWritten; }
  Ranges harvested(Ranges runs) {
    Ranges written;
    const auto done = harvester_->harvest(runs, written);
    EXPECT_TRUE(done) << done.error().describe();
    merge_ranges(written);
    return written;
  }

  UniqueFd file_;
  Mapping states_;
  std::vector<std::byte> part_ = std::vector<std::byte>(sizeof(protocol::ArmRequests));
  std::unique_ptr<Harvester> harvester_;
  std::jthread guest_;
};

TEST_F(FaultHarvesting, noted_pages_are_found_once_through_every_window) {
  serve();
  ASSERT_TRUE(harvester_->arm(page(0, 16)));
  EXPECT_EQ(harvested({page(0, 16)}), Ranges{});
  write(kBase + 3 * kHostPage);
  write(kBase + 4 * kHostPage);
  write(alias(2));
  EXPECT_EQ(harvested({page(0, 4), page(6, 8)}), (Ranges{page(3), page(10)}));
  EXPECT_EQ(harvested({page(0, 16)}), (Ranges{page(4)}));
  EXPECT_EQ(harvested({page(0, 16)}), Ranges{});
}

TEST_F(FaultHarvesting, a_new_window_s_pages_count_as_written_and_one_that_is_gone_as_nothing) {
  serve();
  EXPECT_EQ(harvested({page(2, 2)}), (Ranges{page(2, 2)}));
  EXPECT_EQ(harvested({page(2, 2)}), Ranges{});
  state(kBase + 2 * kHostPage) = 0;
  EXPECT_EQ(harvested({page(2, 2)}), Ranges{});
}

TEST(FaultHarvester, states_of_another_size_are_refused) {
  const auto file = make_memory_file("states", {4096}).value();
  std::vector<std::byte> part(sizeof(protocol::ArmRequests));
  EXPECT_FALSE(make_fault_harvester(file, part));
}

}  // namespace
}  // namespace orrery::memory
