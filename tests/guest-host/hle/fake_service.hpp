// A GPU service without a GPU, and a launcher, in the test's own process: enough of the protocol to serve a link.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "guest-host/link/link.hpp"
#include "protocol/journal.hpp"
#include "protocol/stretch.hpp"

namespace orrery::hle::test {

// What one life does. Shared by the lives of a run.
struct ServiceScript {
  // Called for each entry; true: it is done (retired).
  std::function<bool(const protocol::EntryCopy&)> execute = [](const protocol::EntryCopy&) { return true; };
};

class FakeService {
 public:
  FakeService(protocol::ControlSocket socket, ServiceScript script);
  // Dies at once, without a word.
  ~FakeService() { die(); }
  void die();

  std::vector<protocol::EntryCopy> executed() const;
  uint32_t life() const { return life_; }
  bool saw_shutdown() const { return saw_shutdown_; }
  // Messages to the guest process.
  void say_queue_event(uint32_t queue, uint32_t context_id);
  void say_input(const link::PadInput& input);
  void say_refusal(const std::string& kind, const std::string& text, uint64_t count);
  void say_window_closed();
  void say_settled(uint64_t number);
  void say_bytes(std::span<const std::byte> bytes);

 private:
  void run();
  void execute(uint64_t sequence);
  // The open entries that it has not seen.
  void execute_up_to(uint64_t last);
  void take(std::span<const std::byte> message);

  protocol::ControlSocket socket_;
  ServiceScript script_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> ready_{false};
  std::atomic<uint32_t> life_{0};
  std::atomic<bool> saw_shutdown_{false};
  uint64_t last_ = 0;
  std::unique_ptr<protocol::ControlSegmentView> view_;
  std::unique_ptr<protocol::JournalReader> journal_;
  mutable std::mutex mutex_;  // the ring to the guest, and what was executed
  std::unique_ptr<protocol::RingProducer> ring_;
  std::mutex making_;  // a stretch
  Mapping redo_;
  std::unique_ptr<protocol::StretchWriter> stretches_;
  std::vector<protocol::EntryCopy> executed_;
  std::thread thread_;
};

// The launcher's end of its socket pair with the guest process.
class FakeLauncher {
 public:
  FakeLauncher();
  // The guest's end, once.
  UniqueFd guest_end();
  // Starts a life and tells the guest process.
  std::unique_ptr<FakeService> start_service(uint32_t life, ServiceScript script = {});
  // The next line from the guest process; empty after `timeout_ms`.
  std::string receive(int timeout_ms = 5000);
  void send(const std::string& text);
  void hang_up();

 private:
  std::unique_ptr<protocol::ControlSocket> ours_;
  UniqueFd theirs_;
};

// Waits up to five seconds for something to become true.
bool eventually(const std::function<bool()>& condition);

}  // namespace orrery::hle::test
