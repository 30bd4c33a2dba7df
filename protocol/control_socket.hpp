// The control socket (SOCK_SEQPACKET, a pair made by the launcher): memory descriptors, handshake, liveness.
// The launcher talks to orrery-guest over its own pair with one-line text packets:
//   launcher -> guest: "service LIFE PID HOW" with one descriptor (the guest's end of the new service's pair); HOW is
//   what
//     the life before it came to: first (there was none), died, killed (by somebody else), swapped (on request)
//   guest -> launcher: "ready" (the handshake with the current life is done), "hung LIFE" (it is to be killed), "done
//   CODE"
//     (the title ended)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/control_segment.hpp"
#include "shared/error.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::protocol {

struct Packet {
  std::vector<std::byte> bytes;
  std::vector<UniqueFd> fds;
};

class ControlSocket {
 public:
  explicit ControlSocket(UniqueFd fd) : fd_(std::move(fd)) {}
  // A connected pair, for tests and for processes we start ourselves.
  static Result<std::pair<ControlSocket, ControlSocket>> pair();
  Result<void> send(std::span<const std::byte> bytes, std::span<const int> fds = {}) const;
  // Waits up to timeout_ms (-1: for ever). Empty at the deadline; error peer_gone when the peer hung up.
  Result<std::optional<Packet>> receive(int timeout_ms) const;
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

struct RunOptions {
  bool headless = false;
  bool logical_clock = false;
  std::string keep_frames_directory;  // empty: keep none
  uint32_t keep_every = 1;
  std::string title;
};

// What the service learns from the guest process.
struct GuestHello {
  UniqueFd arena;
  UniqueFd segment;
  UniqueFd redo;         // stretch.hpp
  UniqueFd pagemap;      // of the guest process, whose windows are all registered; or none
  UniqueFd page_states;  // or its page states (page_states.hpp); with neither, writes are not tracked
  Bytes arena_size;
  Bytes segment_size;
  PartTable parts;
  uint32_t life = 0;
  RunOptions options;
};

// The memory that the guest process hands to every life of the service.
struct OfferedMemory {
  const UniqueFd& arena;
  Bytes arena_size;
  const UniqueFd& redo;
  const UniqueFd* pagemap = nullptr;  // see GuestHello: one of the two, or none
  const UniqueFd* page_states = nullptr;
};
// The guest's half: sends its Hello with the descriptors, waits for the service's. Error protocol_mismatch names both
// versions and build ids.
Result<std::string> greet_service(const ControlSocket& socket, const OfferedMemory& memory,
                                  const ControlSegment& segment, uint32_t life, const RunOptions& options,
                                  int timeout_ms);
// The service's half: receives and checks the guest's Hello, answers with its own. `open_device` is called in between,
// when the life and the run's options are known (a window needs other Vulkan extensions than no window), and answers
// the device's name.
using OpenDevice = std::function<Result<std::string>(const GuestHello&)>;
Result<GuestHello> greet_guest(const ControlSocket& socket, const OpenDevice& open_device, int timeout_ms);
Result<GuestHello> greet_guest(const ControlSocket& socket, const std::string& device_name, int timeout_ms);

// Identifies this build in the handshake: the commit it was configured at, else the version. Builds that differ and
// speak the same protocol only log a warning.
std::string build_id();

}  // namespace orrery::protocol
