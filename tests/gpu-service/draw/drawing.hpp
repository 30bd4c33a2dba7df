// A command processor on a real executor: streams of packets draw into a guest's memory.
#pragma once

#include <bit>

#include "gpu-service/command/pm4.hpp"
#include "gpu-service/command/processor.hpp"
#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/draw/registers.hpp"
#include "tests/gpu-service/dispatch/test_guest.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::draw {

class Told : public command::Listener {
 public:
  void refused(const dispatch::Refusal& refusal) override { text += refusal.kind + ": " + refusal.text + "\n"; }
  void retired(uint64_t) override { ++retirements; }
  void queue_event(uint32_t, uint32_t) override {}
  std::string text;
  uint32_t retirements = 0;
};

// Parameter: the arena is mirrored, or the device works in it.
class Drawing : public vulkan::DeviceTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (device == nullptr) return;
    auto made = dispatch::DispatchExecutor::create(
        *device, *guest.memory,
        {.coherence = GetParam() ? dispatch::Coherence::mirrored : dispatch::Coherence::imported});
    ASSERT_TRUE(made) << made.error().describe();
    executor = std::move(*made);
    processor = std::make_unique<command::Processor>(command::ProcessorParts{*guest.memory, *executor, told});
  }
  void TearDown() override {
    processor.reset();
    executor.reset();
    DeviceTest::TearDown();
  }
  void run(std::vector<uint32_t> dwords) {
    command::Submission submission{next_sequence_++, 0, 0, {}};
    const auto size = static_cast<uint32_t>(dwords.size());
    submission.buffers.push_back({{0x7000}, size, true, std::move(dwords)});
    processor->submit(std::move(submission));
    for (;;) {
      auto moved = processor->run();
      ASSERT_TRUE(moved) << moved.error().describe();
      if (!*moved) return;
    }
  }
  uint32_t u32(uint64_t address) { return guest.memory->read_u32({address}).value(); }
  void put(uint64_t address, std::span<const uint32_t> words) {
    ASSERT_TRUE(guest.memory->refresh());
    ASSERT_TRUE(guest.memory->write({address}, std::as_bytes(words)));
  }

  dispatch::TestGuest guest;
  Told told;
  std::unique_ptr<dispatch::DispatchExecutor> executor;
  std::unique_ptr<command::Processor> processor;

 private:
  uint64_t next_sequence_ = 1;
};

inline std::string arena_form(const testing::TestParamInfo<bool>& info) { return info.param ? "mirrored" : "imported"; }

}  // namespace orrery::draw
