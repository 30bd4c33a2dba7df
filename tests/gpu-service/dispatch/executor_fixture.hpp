// A validated device, a guest and an executor over hand-written modules, with the arena as the device may see it.
#pragma once

#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/dispatch/launch_geometry.hpp"
#include "tests/gpu-service/dispatch/abi_kernels.hpp"
#include "tests/gpu-service/dispatch/test_guest.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::dispatch {

enum class ArenaForm : uint8_t {
  imported,  // programs work in the arena itself
  mirrored,  // in copies that the device fills from the arena
  copied,    // in copies that the CPU fills: the device can't reach the arena
};

class Executing : public vulkan::DeviceTest, public testing::WithParamInterface<ArenaForm> {
 protected:
  static constexpr uint64_t kCode = 0x100000, kData = 0x40'0000'0000;
  static constexpr uint64_t kCodeOffset = 0x10000, kDataOffset = 0x400000;

  void SetUp() override {
    DeviceTest::SetUp();
    if (device == nullptr) return;
    auto made = DispatchExecutor::create(*device, *guest.memory, options(), abi_kernel_translator());
    ASSERT_TRUE(made) << made.error().describe();
    executor = std::move(*made);
    guest.map({TestGuest::entry(kCode, 0x4000, kCodeOffset), TestGuest::entry(kData, 0x400000, kDataOffset)});
    ASSERT_TRUE(executor->acquire());
  }
  ExecutorOptions options() const {
    return {.coherence = GetParam() == ArenaForm::imported ? Coherence::imported : Coherence::mirrored,
            .import_arena = GetParam() != ArenaForm::copied};
  }
  void TearDown() override {
    executor.reset();
    DeviceTest::TearDown();
  }
  // A program that is one test kernel, at its own place.
  GuestAddress program(uint32_t kernel, uint32_t salt = 0) {
    const uint64_t at = next_program_ += 0x100;
    guest.set_word(kCodeOffset + at, 0, kernel);
    guest.set_word(kCodeOffset + at, 1, salt);
    return {kCode + at};
  }
  static DispatchState launch(GuestAddress program, uint32_t groups) {
    DispatchState state;
    state.program = program;
    state.initiator = kWave32 | kStartAtZero;
    state.group_size = {32, 1, 1};
    state.groups = {groups, 1, 1};
    return state;
  }
  static void set_address(DispatchState& state, size_t at, uint64_t address) {
    state.user_data[at] = static_cast<uint32_t>(address);
    state.user_data[at + 1] = static_cast<uint32_t>(address >> 32);
  }
  // A raw buffer of `bytes` in user data.
  static void set_buffer(DispatchState& state, size_t at, uint64_t address, uint32_t bytes) {
    set_address(state, at, address);
    state.user_data[at + 2] = bytes;
    state.user_data[at + 3] = 3u << 28;
  }
  // The end of a submission, and the start of the next one.
  std::vector<Refusal> finished() {
    auto found = executor->finish();
    EXPECT_TRUE(found) << found.error().describe();
    EXPECT_TRUE(executor->acquire());
    return found ? *found : std::vector<Refusal>{};
  }
  static std::string text_of(const std::vector<Refusal>& refusals) {
    std::string text;
    for (const auto& refusal : refusals) text += refusal.kind + ": " + refusal.text + "\n";
    return text;
  }

  TestGuest guest;
  std::unique_ptr<DispatchExecutor> executor;

 private:
  uint64_t next_program_ = 0;
};

inline std::string form_name(const testing::TestParamInfo<ArenaForm>& info) {
  constexpr const char* kNames[] = {"imported", "mirrored", "copied"};
  return kNames[static_cast<size_t>(info.param)];
}
inline auto every_form() { return testing::Values(ArenaForm::imported, ArenaForm::mirrored, ArenaForm::copied); }

}  // namespace orrery::dispatch
