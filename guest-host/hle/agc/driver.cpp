#include "guest-host/hle/agc/driver.hpp"

#include <fmt/format.h>
#include <chrono>
#include <thread>
#include <vector>

#include "protocol/segment_layout.hpp"

namespace orrery::hle::agc {
namespace {

using protocol::SubmissionBody;
using protocol::SubmittedBuffer;

// Handles look like nothing a title could compute with.
constexpr uint64_t kQueueHandle = 0x0A6C'0000'0000'0100;

enum QueueType : uint32_t { kGraphics = 0, kCompute = 3 };

}  // namespace

std::optional<uint64_t> Driver::create_queue(uint32_t type) {
  if (type == kGraphics) return kQueueHandle + kGraphicsQueue;
  if (type != kCompute) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (next_compute_ >= protocol::kMaxQueues) {
    refusals_.refuse("sceAgcDriverCreateQueue", fmt::format("more than {} compute queues", protocol::kMaxQueues - 1));
    return std::nullopt;
  }
  return kQueueHandle + next_compute_++;
}

std::optional<uint32_t> Driver::queue_of(uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  if (handle < kQueueHandle || handle >= kQueueHandle + next_compute_) return std::nullopt;
  return static_cast<uint32_t>(handle - kQueueHandle);
}

std::optional<uint32_t> Driver::queue_of_owner(uint64_t owner) {
  if (const auto queue = queue_of(owner)) return queue;
  owner = static_cast<uint32_t>(owner);  // a number is 32 bits; what lies above them in the register means nothing
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = owners_.find(owner); known != owners_.end()) return known->second;
  }
  const auto handle = create_queue(kCompute);
  if (!handle) return std::nullopt;
  const uint32_t queue = *queue_of(*handle);
  const std::lock_guard lock(mutex_);
  return owners_.emplace(owner, queue).first->second;
}

int32_t Driver::submit_at(uint32_t queue, GuestAddress description) {
  const auto buffer = memory_.read_value<SubmitDescription>(description);
  if (!buffer) {
    refusals_.refuse("submission", "its description: " + buffer.error().describe());
    return kDriverError;
  }
  return submit(queue, std::span(&*buffer, 1));
}

int32_t Driver::submit(uint32_t queue, std::span<const SubmitDescription> buffers) {
  if (submissions_ == nullptr) {
    refusals_.refuse("submission", "the title runs without a GPU service");
    return kDriverError;
  }
  const SubmissionBody body{static_cast<uint32_t>(buffers.size()), 0};
  std::vector<SubmittedBuffer> heads(buffers.size());
  std::vector<std::vector<std::byte>> copies(buffers.size());
  std::vector<std::span<const std::byte>> pieces = {std::as_bytes(std::span(&body, 1))};
  for (size_t i = 0; i < buffers.size(); ++i) {
    const SubmitDescription& buffer = buffers[i];
    const Bytes size = bytes_of(Dwords{buffer.dwords});
    if (size.value > submissions_->largest_body()) {
      refusals_.refuse("submission",
                       fmt::format("a command buffer of {} dwords is larger than the journal takes", buffer.dwords));
      return kDriverError;
    }
    heads[i] = {buffer.address, buffer.dwords, 0};
    // A range that is not mapped is not worth the allocation.
    if (memory_.covers({buffer.address}, size, memory::kCpuRead)) {
      copies[i].resize(size.value);
      heads[i].readable = memory_.read({buffer.address}, copies[i]) ? 1 : 0;
    }
    pieces.push_back(std::as_bytes(std::span(&heads[i], 1)));
    if (heads[i].readable != 0) pieces.push_back(copies[i]);
  }
  const auto sequence = submissions_->submit(link::EntryKind::submission, queue, clock_.now(), pieces);
  if (!sequence) {
    // The run is over, and with it this thread: the title is not to see an error that a console never gives.
    while (sequence.error().code == ExitCode::peer_gone) std::this_thread::sleep_for(std::chrono::hours(1));
    refusals_.refuse("submission", sequence.error().describe());
    return kDriverError;
  }
  clock_.settle();
  return 0;
}

}  // namespace orrery::hle::agc
