// The display: one port, its registered buffers, and flips on their way to the screen. A flip is a journal entry; it is
// done when the GPU service has shown it (and, with a window, at the next vertical blank).
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "guest-host/clock/guest_clock.hpp"
#include "guest-host/hle/equeue/event_queues.hpp"
#include "guest-host/hle/refusals.hpp"
#include "guest-host/hle/video_out/flip_labels.hpp"
#include "guest-host/hle/video_out/vblank_pacer.hpp"
#include "guest-host/link/submission_log.hpp"
#include "guest-host/memory/guest_memory.hpp"

namespace orrery::hle::video_out {

// Error numbers of the library. Bad handle and bad size are measured; the others are as public headers name them.
inline constexpr int32_t kInvalidValue = static_cast<int32_t>(0x80290001);
inline constexpr int32_t kInvalidAddress = static_cast<int32_t>(0x80290002);
inline constexpr int32_t kInvalidResolution = static_cast<int32_t>(0x80290005);
inline constexpr int32_t kBusy = static_cast<int32_t>(0x80290009);
inline constexpr int32_t kInvalidIndex = static_cast<int32_t>(0x8029000a);
inline constexpr int32_t kInvalidHandle = static_cast<int32_t>(0x8029000b);
inline constexpr int32_t kInvalidEventQueue = static_cast<int32_t>(0x8029000c);
inline constexpr int32_t kSlotOccupied = static_cast<int32_t>(0x80290010);
inline constexpr int32_t kFlipQueueFull = static_cast<int32_t>(0x80290012);

// Ident of the flip event of the one port (measured).
inline constexpr uint64_t kFlipEventIdent = 0x0006'0100'0000'0000;
// Flips on their way at most; who submits more waits (a real console answers an error, which would make a title's
// frames depend on the host's speed).
inline constexpr size_t kMostPending = 16;

struct BufferShape {
  uint32_t width = 0, height = 0;
  uint32_t pitch = 0;   // pixels per row when linear
  uint32_t tiling = 0;  // 0: 64KB_R_X tiles, 1: linear
  uint64_t pixel_format = 0;
};

struct FlipStatus {
  uint64_t completed = 0;
  uint64_t process_time_us = 0;  // of the last completion
  uint64_t ticks = 0;            // of the last completion
  int64_t flip_argument = 0;
  uint64_t submit_ticks = 0;
  uint64_t reserved = 0;
  int32_t queued_on_gpu = 0;
  int32_t pending = 0;
  int32_t current_buffer = -1;
  uint32_t padding = 0;
  std::array<uint64_t, 4> more{};
};
static_assert(sizeof(FlipStatus) == 96);  // the console writes at least that much (measured)

struct Parts {
  memory::GuestMemory& memory;
  clock::GuestClock& clock;
  equeue::EventQueues& queues;
  Refusals& refusals;
  link::SubmissionLog* submissions = nullptr;  // nothing: flips are done at once, nobody shows them
  bool paced = false;                          // completions wait for the vertical blank
  uint64_t frames = 0;                         // flips of the run; 0: no limit
  std::function<void()> frames_done;           // called once, when that many are complete
};

class VideoOut {
 public:
  explicit VideoOut(Parts parts);
  ~VideoOut();

  // Positive handle or error. There is one port (bus 0, index 0).
  int32_t open(int32_t user, int32_t bus, int32_t index);
  int32_t close(int32_t handle);
  // Answers the set's index or an error.
  int32_t register_buffers(int32_t handle, int32_t first, std::span<const GuestAddress> addresses,
                           const BufferShape& shape);
  int32_t unregister_buffers(int32_t handle, int32_t set);
  int32_t set_flip_rate(int32_t handle, int32_t rate);
  // Waits while too many flips are on their way.
  int32_t submit_flip(int32_t handle, int32_t buffer, int64_t argument);
  int32_t status(int32_t handle, FlipStatus& status) const;
  int32_t pending(int32_t handle) const;  // count or error
  int32_t add_flip_event(uint64_t queue, int32_t handle, uint64_t user_data);
  int32_t remove_flip_event(uint64_t queue, int32_t handle);
  int32_t wait_vblank(int32_t handle);
  bool is_open(int32_t handle) const;

  // A flip that a command buffer will ask for: answers the context id of its interrupt, or nothing for a bad handle or
  // buffer.
  std::optional<uint32_t> announce_gpu_flip(int32_t handle, int32_t buffer, int64_t argument);
  bool registered(int32_t handle, int32_t buffer) const;
  // An interrupt of the GPU. True when it was a flip's; then the flip is on its way. Never waits.
  bool on_gpu_interrupt(uint32_t context_id);

  // The oldest flip on its way was shown.
  void on_flip_shown();
  // From now on nobody waits.
  void stop();

 private:
  struct Flip {
    int32_t buffer;
    int64_t argument;
    uint64_t submit_ticks;
  };
  std::optional<int32_t> check(int32_t handle, int32_t buffer) const;  // an error
  // Journals a flip of `buffer`. Nothing: no room now (only without `wait`).
  std::optional<int32_t> send(const Flip& flip, bool wait);
  void send_deferred();
  void complete(const Flip& flip);

  Parts parts_;
  std::mutex sending_;  // flips enter `pending_` and the journal in one order; taken before `mutex_`
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  bool stopped_ = false;
  int32_t rate_ = 0;
  struct Buffer {
    GuestAddress address;
    BufferShape shape;
    int32_t set = -1;  // not registered
  };
  std::array<Buffer, kMaxBuffers> buffers_;
  int32_t next_set_ = 0;
  uint64_t flips_sent_ = 0;
  std::deque<Flip> pending_;
  std::deque<Flip> deferred_;  // asked for by the GPU, no room yet
  std::map<uint32_t, Flip> announced_;
  uint32_t next_context_;
  clock::nanoseconds last_blank_{};  // of guest time with the logical clock, at which a flip completes
  size_t shown_waiting_ = 0;         // the first so many of `pending_` are shown and wait for their blank
  FlipStatus status_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::unique_ptr<VblankPacer> pacer_;
};

}  // namespace orrery::hle::video_out
