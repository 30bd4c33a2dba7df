// The guest process's side of a service, in this process: arena, control segment, journal, rings; the service runs in a
// thread.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu-service/service/service.hpp"
#include "protocol/control_segment.hpp"
#include "protocol/stretch.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::service::test {

inline constexpr uint64_t kData = 0x200000000, kDataSize = 1 << 20;

// Work is done at once by the CPU.
class CpuExecutor : public dispatch::Executor {
 public:
  explicit CpuExecutor(memory::GuestMemory& memory) : memory_(memory) {}
  std::vector<dispatch::Refusal> dispatch(const dispatch::DispatchState&) override {
    return {{"program", "this executor runs no programs"}};
  }
  std::vector<dispatch::Refusal> fill(GuestAddress destination, Bytes size, uint32_t value) override;
  std::vector<dispatch::Refusal> copy(GuestAddress, GuestAddress, Bytes) override { return {}; }
  Result<void> acquire() override { return {}; }
  Result<std::vector<dispatch::Refusal>> finish() override;
  dispatch::DispatchWrites writes_of(const dispatch::DispatchState& state, const memory::GuestMemory&,
                                     const dispatch::MayChange&) override {
    return {{}, fmt::format("program {:#x} tells nothing", state.program.value)};
  }
  std::atomic<bool> lost{false};
  const std::atomic<bool>* busy = nullptr;  // finish() waits while it is set

 private:
  memory::GuestMemory& memory_;
};

class RecordingPresenter : public present::Presenter {
 public:
  Result<void> present(const present::Image& image, uint64_t flip_index) override;
  std::optional<present::PadState> poll() override;
  bool closed() const override { return close; }
  bool looks() const override { return looking; }
  std::vector<std::pair<uint64_t, uint32_t>> shown();  // flip index, first pixel

  std::atomic<bool> close{false};
  std::atomic<bool> press{false};
  bool looking = true;
  std::optional<Error> error;

 private:
  std::mutex mutex_;
  std::vector<std::pair<uint64_t, uint32_t>> shown_;
};

// What the service said, in words: "retired 1", "flip done 2", "event 0 7", "refusal kind: text", "input 10", "closed".
class GuestSide {
 public:
  GuestSide();
  ~GuestSide();
  // Starts a life; the previous one must have ended.
  void start(uint32_t life = 1, bool window = false);
  // Empty rings for a new life; start() does this itself.
  void attach();
  // Waits for the life's end.
  Result<void> end();

  // Appends and announces; answers the sequence.
  uint64_t submit(std::vector<uint32_t> dwords, uint32_t queue = 0, bool announce = true);
  uint64_t flip(uint64_t flip_index, uint64_t address = kData, uint64_t format = 0x8000000000000000);
  void announce(uint64_t sequence);
  // Which ranges may submissions up to `last` (0: all) still write? The answer in words.
  std::string ask(uint64_t last = 0);
  void shutdown();
  void settle(uint64_t number);
  void push(std::span<const std::byte> bytes);
  // The next message in words; fails the test when none comes.
  std::string next();
  // Messages that are there now; call it when the service is gone.
  std::vector<std::string> rest();
  uint32_t u32(uint64_t address) const;
  void put(uint64_t address, uint32_t value);
  protocol::ServiceStatus& status();
  protocol::Ledger& ledger();
  bool retired(uint64_t sequence) {
    const std::lock_guard lock(committed_);
    return journal->retired(sequence);
  }

  protocol::ControlSegment segment;
  UniqueFd arena_file, redo_file;
  Mapping arena, redo;
  std::optional<protocol::JournalWriter> journal;
  std::optional<protocol::RingProducer> to_service;
  std::optional<protocol::RingConsumer> from_service;
  std::optional<protocol::RingProducer> questions;
  std::optional<protocol::RingConsumer> answers;
  RecordingPresenter presenter;
  std::atomic<bool> gone{false}, term{false}, lose_device{false}, device_busy{false};

 private:
  // Applies and publishes what the service has executed; true: there was something.
  bool commit_one();
  std::optional<std::string> try_next();
  uint64_t append(protocol::EntryKind kind, uint32_t queue, std::span<const std::span<const std::byte>> body);
  uint64_t last_ask_ = 0;
  std::mutex committed_;
  std::optional<protocol::StretchCommitter> committer_;
  std::map<uint64_t, protocol::EntryKind> kinds_;
  std::deque<std::string> published_, told_;
  std::thread thread_;
  std::jthread commits_;
  Result<void> ended_;
};

std::vector<uint32_t> write_data(uint64_t address, uint32_t value);
std::vector<uint32_t> wait_for(uint64_t address, uint32_t value);
std::vector<uint32_t> interrupt(uint32_t context_id);

}  // namespace orrery::service::test
