// A command processor on a small arena, with an executor and a listener that record.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu-service/command/processor.hpp"
#include "protocol/address_map.hpp"
#include "protocol/stretch.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::command::test {

// Guest addresses of the test's memory.
inline constexpr uint64_t kData = 0x200000000, kDataSize = 1 << 20;

// Fills and copies reach memory only at finish(), as on a real device.
class RecordingExecutor : public dispatch::Executor {
 public:
  explicit RecordingExecutor(memory::GuestMemory& memory) : memory_(memory) {}
  std::vector<dispatch::Refusal> dispatch(const dispatch::DispatchState& state) override;
  std::optional<std::vector<dispatch::Refusal>> try_dispatch(const dispatch::DispatchState& state) override {
    if (state.program == held) return std::nullopt;
    return dispatch(state);
  }
  std::vector<dispatch::Refusal> draw(const draw::DrawState& state) override {
    draws.push_back(state);
    return {{"draw", "only recorded"}};
  }
  std::vector<dispatch::Refusal> fill(GuestAddress destination, Bytes size, uint32_t value) override;
  std::vector<dispatch::Refusal> copy(GuestAddress destination, GuestAddress source, Bytes size) override;
  Result<void> acquire() override;
  Result<std::vector<dispatch::Refusal>> finish() override;

  std::vector<std::string> log;
  std::vector<dispatch::DispatchState> dispatches;
  std::vector<draw::DrawState> draws;
  bool lost = false;
  GuestAddress held{1};  // this program is being prepared
  // What a "shader" does: stores this dword at finish.
  std::vector<std::pair<GuestAddress, uint32_t>> stores_of_next_dispatch;

 private:
  struct Write {
    GuestAddress to, from;
    uint64_t size;
    uint32_t value;
    bool is_copy;
  };
  memory::GuestMemory& memory_;
  std::vector<Write> pending_;
};

class RecordingListener : public Listener {
 public:
  void refused(const dispatch::Refusal& refusal) override {
    refusals.push_back(refusal);
    if (refusals.size() > 200000) refusals.clear();
  }
  void retired(uint64_t sequence) override { retirements.push_back(sequence); }
  void queue_event(uint32_t queue, uint32_t context_id) override { events.emplace_back(queue, context_id); }
  std::vector<dispatch::Refusal> refusals;
  std::vector<uint64_t> retirements;
  std::vector<std::pair<uint32_t, uint32_t>> events;
};

// The guest process's end of stretches, over any number of lives.
class StretchGuest {
 public:
  StretchGuest();
  // A life is gone: what it executed is applied.
  void life_ended();
  // While false, lives die in the wait for their commit.
  std::atomic<bool> commits{true};

  UniqueFd redo_file;
  Mapping arena, redo;
  std::vector<protocol::QueueCheckpoint> checkpoints = std::vector<protocol::QueueCheckpoint>(4);
  protocol::StretchSlot slot{};
  protocol::Ledger ledger{};
  std::vector<uint64_t> done;
  std::vector<std::pair<uint32_t, uint32_t>> events;

 private:
  void take();
  std::mutex mutex_;
  std::optional<protocol::StretchCommitter> committer_;
  std::jthread thread_;
};

class Bench {
 public:
  explicit Bench(std::vector<protocol::MapEntry> map = {{kData, kDataSize, 0, 0x33, 4}},
                 uint64_t arena_size = kDataSize);
  // A life whose stretches go to `guest`.
  explicit Bench(StretchGuest& guest);
  // Submits one buffer; answers its sequence.
  uint64_t submit(std::vector<uint32_t> dwords, uint32_t queue = 0, uint64_t guest_time_ns = 0);
  // Runs until nothing moves.
  void settle();
  void run(std::vector<uint32_t> dwords, uint32_t queue = 0) {
    submit(std::move(dwords), queue);
    settle();
  }
  uint32_t u32(uint64_t address) { return *memory.read_u32({address}); }
  uint64_t u64(uint64_t address) { return *memory.read_u64({address}); }
  void put(uint64_t address, std::vector<uint32_t> words);
  // All refusal texts, one a line.
  std::string refusals() const;

  std::vector<uint64_t> map_memory;
  Mapping own_arena;
  std::span<std::byte> arena;
  std::optional<protocol::StretchWriter> stretches;
  memory::GuestMemory memory;
  RecordingExecutor executor;
  RecordingListener listener;
  Processor processor;
  uint64_t next_sequence = 1;
};

// Words of packets.
uint32_t header(uint32_t opcode, uint32_t body_dwords);
constexpr uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
// One behind the other.
std::vector<uint32_t> stream(std::initializer_list<std::vector<uint32_t>> packets);
std::vector<uint32_t> release_mem(uint64_t address, uint64_t value, uint32_t data_select = 1, uint32_t interrupt = 0,
                                  uint32_t context_id = 0);
std::vector<uint32_t> wait_reg_mem(uint64_t address, uint32_t reference, uint32_t function = 3, uint32_t mask = ~0u);
std::vector<uint32_t> write_data(uint64_t address, std::vector<uint32_t> values);
std::vector<uint32_t> indirect_buffer(uint64_t address, size_t dwords, bool chain = false);
std::vector<uint32_t> fill(uint64_t address, uint32_t value, uint32_t size);

}  // namespace orrery::command::test
