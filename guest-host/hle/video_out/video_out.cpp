#include "guest-host/hle/video_out/video_out.hpp"

#include <algorithm>
#include <utility>

namespace orrery::hle::video_out {
namespace {

constexpr int32_t kHandle = 1;
constexpr uint32_t kMostPixels = 16384;             // each way; the largest surface the GPU can describe
constexpr uint32_t kFirstFlipContext = 0x08000101;  // measured; counts up
constexpr size_t kMostAnnounced = 4096;

}  // namespace

VideoOut::VideoOut(Parts parts) : parts_(std::move(parts)), next_context_(kFirstFlipContext) {
  if (parts_.paced) pacer_ = std::make_unique<VblankPacer>();
}

VideoOut::~VideoOut() {
  stop();
  pacer_.reset();
}

void VideoOut::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

int32_t VideoOut::open(int32_t, int32_t bus, int32_t index) {
  if (bus != 0 || index != 0) return kInvalidValue;
  const std::lock_guard lock(mutex_);
  if (open_) return kBusy;
  if (!parts_.memory.covers(kFlipLabels, Bytes{8 * kMaxBuffers}, memory::kCpuWrite)) {
    memory::MapRequest request;
    request.size = Bytes{kGuestPage};
    request.address = GuestAddress{align_down(kFlipLabels.value, kGuestPage)};
    request.protection = memory::kCpuRead | memory::kCpuWrite | memory::kGpuRead | memory::kGpuWrite;
    request.fixed = true;
    request.keep_existing = true;
    request.name = "flip labels";
    if (auto mapped = parts_.memory.map(request); !mapped) {
      parts_.refusals.refuse("sceVideoOutOpen", "the page of the flip labels is taken: " + mapped.error().describe());
      return kBusy;
    }
  }
  open_ = true;
  return kHandle;
}

int32_t VideoOut::close(int32_t handle) {
  const std::lock_guard lock(mutex_);
  if (!open_ || handle != kHandle) return kInvalidHandle;
  open_ = false;
  for (Buffer& buffer : buffers_) buffer = {};
  return 0;
}

bool VideoOut::is_open(int32_t handle) const {
  const std::lock_guard lock(mutex_);
  return open_ && handle == kHandle;
}

int32_t VideoOut::register_buffers(int32_t handle, int32_t first, std::span<const GuestAddress> addresses,
                                   const BufferShape& shape) {
  const std::lock_guard lock(mutex_);
  if (!open_ || handle != kHandle) return kInvalidHandle;
  if (first < 0 || addresses.empty() || static_cast<size_t>(first) + addresses.size() > kMaxBuffers) {
    return kInvalidValue;
  }
  if (shape.tiling > 1) return kInvalidValue;
  const bool too_large = shape.width > kMostPixels || shape.height > kMostPixels;
  if (shape.width == 0 || shape.height == 0 || too_large) return kInvalidValue;
  if (shape.width == 1280 && shape.height == 720) return kInvalidResolution;  // measured on a 1080p output
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (buffers_[static_cast<size_t>(first) + i].set >= 0) return kSlotOccupied;
    if (addresses[i].value == 0 || !parts_.memory.covers(addresses[i], Bytes{4}, 0)) return kInvalidAddress;
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    buffers_[static_cast<size_t>(first) + i] = {addresses[i], shape, next_set_};
  }
  return next_set_++;
}

int32_t VideoOut::unregister_buffers(int32_t handle, int32_t set) {
  const std::lock_guard lock(mutex_);
  if (!open_ || handle != kHandle) return kInvalidHandle;
  bool any = false;
  for (Buffer& buffer : buffers_) {
    if (set < 0 || buffer.set != set) continue;
    buffer = {};
    any = true;
  }
  return any ? 0 : kInvalidValue;
}

int32_t VideoOut::set_flip_rate(int32_t handle, int32_t rate) {
  const std::lock_guard lock(mutex_);
  if (!open_ || handle != kHandle) return kInvalidHandle;
  if (rate < 0 || rate > 2) return kInvalidValue;  // 60, 30, 20 a second
  rate_ = rate;
  return 0;
}

std::optional<int32_t> VideoOut::check(int32_t handle, int32_t buffer) const {
  if (!open_ || handle != kHandle) return kInvalidHandle;
  if (buffer < 0 || buffer >= static_cast<int32_t>(kMaxBuffers)) return kInvalidIndex;
  if (buffers_[static_cast<size_t>(buffer)].set < 0) return kInvalidIndex;
  return std::nullopt;
}

bool VideoOut::registered(int32_t handle, int32_t buffer) const {
  const std::lock_guard lock(mutex_);
  return !check(handle, buffer);
}

int32_t VideoOut::submit_flip(int32_t handle, int32_t buffer, int64_t argument) {
  std::unique_lock sending(sending_, std::defer_lock);
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (const auto error = check(handle, buffer)) return *error;
      const auto room = [&] {
        const bool more_frames = parts_.frames == 0 || flips_sent_ < parts_.frames;
        return stopped_ || (more_frames && pending_.size() < kMostPending);
      };
      for (clock::Waiting waiting(clock::Deadline::never(parts_.clock)); !room();) waiting.sleep(changed_, lock);
      if (stopped_) return kFlipQueueFull;
    }
    sending.lock();
    // Somebody else may have taken the room.
    if (const auto result = send({buffer, argument, parts_.clock.ticks()}, true)) {
      sending.unlock();
      send_deferred();
      parts_.clock.settle();
      return *result;
    }
    sending.unlock();
  }
}

std::optional<int32_t> VideoOut::send(const Flip& flip, bool wait) {
  protocol::FlipBody body{};
  {
    const std::lock_guard lock(mutex_);
    if (const auto error = check(kHandle, flip.buffer)) return *error;
    if (pending_.size() >= kMostPending || (parts_.frames != 0 && flips_sent_ >= parts_.frames)) return std::nullopt;
    const Buffer& buffer = buffers_[static_cast<size_t>(flip.buffer)];
    body.guest_address = buffer.address.value;
    body.width = buffer.shape.width;
    body.height = buffer.shape.height;
    body.pitch = buffer.shape.pitch;
    body.tiling = buffer.shape.tiling;
    body.pixel_format = buffer.shape.pixel_format;
    body.flip_argument = flip.argument;
    body.flip_index = flips_sent_;
    body.buffer_index = static_cast<uint32_t>(flip.buffer);
    body.vsync = parts_.paced ? 1 : 0;
    pending_.push_back(flip);
    ++flips_sent_;
    // In the queue from here on: not to be drawn to.
    if (auto done = parts_.memory.write_value<uint64_t>(flip_label(static_cast<uint32_t>(flip.buffer)), 1); !done) {
      parts_.refusals.refuse("flip label", done.error().describe());
    }
  }
  if (parts_.submissions == nullptr) {
    on_flip_shown();
    return 0;
  }
  const std::span<const std::byte> piece = std::as_bytes(std::span(&body, 1));
  const std::span<const std::span<const std::byte>> pieces(&piece, 1);
  bool sent = false, failed = false;
  if (wait) {
    const auto result = parts_.submissions->submit(link::EntryKind::flip, 0, parts_.clock.now(), pieces);
    sent = result.has_value();
    failed = !sent;
  } else {
    const auto result = parts_.submissions->try_submit(link::EntryKind::flip, 0, parts_.clock.now(), pieces);
    failed = !result;
    sent = result && *result;
  }
  if (sent) return 0;
  {
    // `sending_` is ours: the last one pending is this flip.
    const std::lock_guard lock(mutex_);
    pending_.pop_back();
    --flips_sent_;
  }
  if (failed) return kFlipQueueFull;  // the run is ending
  return std::nullopt;
}

std::optional<uint32_t> VideoOut::announce_gpu_flip(int32_t handle, int32_t buffer, int64_t argument) {
  const std::lock_guard lock(mutex_);
  if (check(handle, buffer)) return std::nullopt;
  // Command buffers that are built and never submitted leave theirs behind; the oldest go.
  if (announced_.size() >= kMostAnnounced) announced_.erase(announced_.begin());
  announced_[next_context_] = {buffer, argument, parts_.clock.ticks()};
  return next_context_++;
}

bool VideoOut::on_gpu_interrupt(uint32_t context_id) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = announced_.find(context_id);
    if (found == announced_.end()) return false;
    deferred_.push_back(found->second);
    announced_.erase(found);
  }
  send_deferred();
  return true;
}

void VideoOut::send_deferred() {
  // When somebody is sending, they come by here afterwards; otherwise the next completed flip does.
  const std::unique_lock sending(sending_, std::try_to_lock);
  if (!sending) return;
  for (;;) {
    Flip flip{};
    {
      const std::lock_guard lock(mutex_);
      if (deferred_.empty()) return;
      flip = deferred_.front();
    }
    if (!send(flip, false)) return;
    const std::lock_guard lock(mutex_);
    deferred_.pop_front();
  }
}

void VideoOut::on_flip_shown() {
  Flip flip{};
  uint32_t blanks = 1;
  {
    const std::lock_guard lock(mutex_);
    if (pending_.empty()) return;
    if (!pacer_ && !parts_.clock.logical()) {
      flip = pending_.front();
    } else {
      // Stays pending until its blank.
      flip = pending_[std::min(shown_waiting_, pending_.size() - 1)];
      ++shown_waiting_;
      blanks = static_cast<uint32_t>(rate_) + 1;
    }
    if (parts_.clock.logical()) {
      last_blank_ = std::max(last_blank_, parts_.clock.now());
      while (blanks-- > 0) last_blank_ = clock::next_blank(last_blank_);
    }
  }
  if (auto* turns = parts_.clock.turns()) {
    turns->at(last_blank_, [this, flip] { complete(flip); });
  } else if (pacer_) {
    pacer_->at_vblank(blanks, [this, flip] { complete(flip); });
  } else {
    complete(flip);
  }
}

void VideoOut::complete(const Flip& flip) {
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    if (!pending_.empty()) pending_.pop_front();
    if (shown_waiting_ > 0) --shown_waiting_;
    const int32_t left = std::exchange(status_.current_buffer, flip.buffer);
    const bool still_queued =
        std::any_of(pending_.begin(), pending_.end(), [&](const Flip& f) { return f.buffer == left; });
    if (left >= 0 && left != flip.buffer && !still_queued) {
      // Off the screen: may be drawn to.
      if (auto done = parts_.memory.write_value<uint64_t>(flip_label(static_cast<uint32_t>(left)), 0); !done) {
        parts_.refusals.refuse("flip label", done.error().describe());
      }
    }
    ++status_.completed;
    status_.process_time_us = static_cast<uint64_t>(parts_.clock.now().count()) / 1000;
    status_.ticks = parts_.clock.ticks();
    status_.flip_argument = flip.argument;
    status_.submit_ticks = flip.submit_ticks;
    last = parts_.frames != 0 && status_.completed == parts_.frames;
  }
  parts_.queues.trigger(kFlipEventIdent, equeue::kFilterVideoOut,
                        static_cast<int64_t>(static_cast<uint64_t>(flip.argument) << 16));
  changed_.notify_all();
  if (last && parts_.frames_done) parts_.frames_done();
  if (parts_.submissions != nullptr) send_deferred();
}

int32_t VideoOut::status(int32_t handle, FlipStatus& status) const {
  parts_.clock.asked();
  const std::lock_guard lock(mutex_);
  if (!open_ || handle != kHandle) return kInvalidHandle;
  status = status_;
  status.pending = static_cast<int32_t>(pending_.size());
  status.queued_on_gpu = static_cast<int32_t>(deferred_.size());
  return 0;
}

int32_t VideoOut::pending(int32_t handle) const {
  parts_.clock.asked();
  const std::lock_guard lock(mutex_);
  if (!open_ || handle != kHandle) return kInvalidHandle;
  return static_cast<int32_t>(pending_.size() + deferred_.size());
}

int32_t VideoOut::add_flip_event(uint64_t queue, int32_t handle, uint64_t user_data) {
  if (!is_open(handle)) return kInvalidHandle;
  return parts_.queues.add(queue, kFlipEventIdent, equeue::kFilterVideoOut, user_data) ? 0 : kInvalidEventQueue;
}

int32_t VideoOut::remove_flip_event(uint64_t queue, int32_t handle) {
  if (!is_open(handle)) return kInvalidHandle;
  return parts_.queues.remove(queue, kFlipEventIdent, equeue::kFilterVideoOut) ? 0 : kInvalidEventQueue;
}

int32_t VideoOut::wait_vblank(int32_t handle) {
  if (!is_open(handle)) return kInvalidHandle;
  if (parts_.clock.logical()) {
    parts_.clock.sleep(clock::next_blank(parts_.clock.now()) - parts_.clock.now());
    return 0;
  }
  const auto now = std::chrono::steady_clock::now();
  parts_.clock.sleep(next_vblank(started_, now) - now);
  return 0;
}

}  // namespace orrery::hle::video_out
