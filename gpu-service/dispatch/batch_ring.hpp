// Batches of recorded work in flight: a few command buffers, each with the descriptors and the small memory that its
// dispatches need. Work is ordered by full barriers: every recorded step sees all steps before it.
#pragma once

#include <vulkan/vulkan_core.h>
#include <array>
#include <atomic>
#include <chrono>
#include <vector>

#include "gpu-service/shader/translate.hpp"
#include "gpu-service/vulkan/buffer.hpp"
#include "gpu-service/vulkan/device_clock.hpp"
#include "shared/error.hpp"

namespace orrery::vulkan {
class Device;
}

namespace orrery::dispatch {

// What an escape report is about.
struct DispatchNote {
  GuestAddress program;
  uint32_t queue = 0, packet_offset = 0;
  uint64_t sequence = 0;
};
struct Escape {
  DispatchNote note;
  shader::EscapeReport report;
};

// What one dispatch gets from its batch.
struct DispatchRoom {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;     // null when there are no buffers
  std::span<shader::BoundInfo> bound_info;  // one per buffer, to be filled in
  DeviceAddress bound_info_address, escapes;
};

// Everything behind it sees everything before it.
void full_barrier(VkCommandBuffer commands);

class BatchRing {
 public:
  static constexpr uint32_t kMostBuffers = 256;  // of one dispatch

  static Result<BatchRing> create(const vulkan::Device& device, std::chrono::seconds patience,
                                  std::atomic<uint64_t>* heartbeat = nullptr);
  BatchRing(BatchRing&&) = default;
  BatchRing& operator=(BatchRing&&) = default;
  ~BatchRing();

  // A command buffer that is being recorded, with a barrier behind everything before. A full batch is submitted first.
  Result<VkCommandBuffer> step();
  // The same for a dispatch with `buffers` (at most kMostBuffers) storage buffers.
  Result<DispatchRoom> dispatch_step(VkDescriptorSetLayout layout, uint32_t buffers, const DispatchNote& note);
  // Nothing is recorded and nothing runs.
  bool idle() const;
  // Gives the device what is recorded; does not wait.
  Result<void> submit();
  // Submits and waits until everything is complete and visible to the host. Error: device lost, or patience at its end.
  Result<void> wait();
  // Does the device still work on something after `time`? Used when patience ended: then nothing may be destroyed.
  bool stuck(std::chrono::seconds time);
  // Escapes found by waits since the last call.
  std::vector<Escape> take_escapes() { return std::exchange(escapes_, {}); }
  uint64_t submissions() const { return submissions_; }

 private:
  struct Batch {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkDescriptorPool descriptors = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    vulkan::Buffer memory;                // escape reports, then bound infos
    VkQueryPool stamps = VK_NULL_HANDLE;  // one before each step, one behind the last
    std::vector<GuestAddress> programs;   // of the steps; 0: a fill or copy
    uint64_t submitted_ns = 0;
    bool recording = false, running = false;
    uint32_t steps = 0, bound = 0;
    std::vector<DispatchNote> notes;
  };
  explicit BatchRing(const vulkan::Device& device) : device_(&device) {}
  Result<void> make(Batch& batch);
  Result<void> begin(Batch& batch);
  Result<void> finish(Batch& batch);
  // Counts "device: run" for each step of a batch that is done.
  void record_times(Batch& batch);
  // Timestamps that a running batch has taken, where there are any: it grows while steps end.
  uint32_t steps_done(const Batch& batch) const;
  Batch& current() { return batches_[current_]; }
  static bool full(const Batch& batch, uint32_t buffers);

  const vulkan::Device* device_;
  vulkan::DeviceClock clock_;
  std::chrono::seconds patience_{};
  std::atomic<uint64_t>* heartbeat_ = nullptr;
  std::vector<Batch> batches_;
  size_t current_ = 0;
  std::vector<Escape> escapes_;
  uint64_t submissions_ = 0;
};

}  // namespace orrery::dispatch
