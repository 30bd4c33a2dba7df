#include "gpu-service/dispatch/batch_ring.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "gpu-service/vulkan/device.hpp"
#include "shared/injection.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {
namespace {

constexpr size_t kBatches = 3;
constexpr uint32_t kMostSteps = 256;   // of a batch
constexpr uint32_t kMostBound = 4096;  // buffers of all its dispatches
constexpr uint64_t kReportBytes = kMostSteps * sizeof(shader::EscapeReport);
static_assert(BatchRing::kMostBuffers <= kMostBound);

void barrier(VkCommandBuffer commands, VkPipelineStageFlags to, VkAccessFlags access) {
  VkMemoryBarrier everything{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  everything.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  everything.dstAccessMask = access;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, to, 0, 1, &everything, 0, nullptr, 0, nullptr);
}

// Written when everything before it is done: the barriers of a batch leave no work beside it.
void stamp(VkCommandBuffer commands, VkQueryPool stamps, uint32_t index) {
  if (stamps != VK_NULL_HANDLE) {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps, index);
  }
}

}  // namespace

void full_barrier(VkCommandBuffer commands) {
  barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
}

Result<BatchRing> BatchRing::create(const vulkan::Device& device, std::chrono::seconds patience,
                                    std::atomic<uint64_t>* heartbeat) {
  BatchRing ring(device);
  ring.patience_ = patience;
  ring.heartbeat_ = heartbeat;
  ring.clock_ = vulkan::DeviceClock(device);
  if (!ring.clock_.available()) log::info("this device writes no time stamps: its time is from submission to fence");
  ring.batches_.resize(kBatches);
  for (Batch& batch : ring.batches_) ORRERY_TRY(ring.make(batch));
  return ring;
}

Result<void> BatchRing::make(Batch& batch) {
  const VkDevice device = device_->handle();
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = device_->queue_family();
  VkResult result = vkCreateCommandPool(device, &pool, nullptr, &batch.pool);
  if (result != VK_SUCCESS) return device_->error(result, "vkCreateCommandPool");
  VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  commands.commandPool = batch.pool;
  commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commands.commandBufferCount = 1;
  result = vkAllocateCommandBuffers(device, &commands, &batch.commands);
  if (result != VK_SUCCESS) return device_->error(result, "vkAllocateCommandBuffers");
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kMostBound};
  VkDescriptorPoolCreateInfo descriptors{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  descriptors.maxSets = kMostSteps;
  descriptors.poolSizeCount = 1;
  descriptors.pPoolSizes = &size;
  result = vkCreateDescriptorPool(device, &descriptors, nullptr, &batch.descriptors);
  if (result != VK_SUCCESS) return device_->error(result, "vkCreateDescriptorPool");
  VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  result = vkCreateFence(device, &fence, nullptr, &batch.fence);
  if (result != VK_SUCCESS) return device_->error(result, "vkCreateFence");
  if (clock_.available()) {
    VkQueryPoolCreateInfo stamps{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    stamps.queryType = VK_QUERY_TYPE_TIMESTAMP;
    stamps.queryCount = kMostSteps + 1;
    result = vkCreateQueryPool(device, &stamps, nullptr, &batch.stamps);
    if (result != VK_SUCCESS) return device_->error(result, "vkCreateQueryPool");
  }
  auto memory = vulkan::Buffer::create(*device_, {kReportBytes + kMostBound * sizeof(shader::BoundInfo)},
                                       vulkan::BufferPlace::shared, "batch memory");
  if (!memory) return std::unexpected(std::move(memory.error()));
  batch.memory = std::move(*memory);
  return {};
}

Result<void> BatchRing::begin(Batch& batch) {
  VkResult result = vkResetCommandPool(device_->handle(), batch.pool, 0);
  if (result == VK_SUCCESS) result = vkResetDescriptorPool(device_->handle(), batch.descriptors, 0);
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  if (result == VK_SUCCESS) result = vkBeginCommandBuffer(batch.commands, &info);
  if (result != VK_SUCCESS) return device_->error(result, "beginning a batch");
  batch.recording = true;
  batch.steps = batch.bound = 0;
  batch.notes.clear();
  batch.programs.clear();
  if (batch.stamps != VK_NULL_HANDLE) vkCmdResetQueryPool(batch.commands, batch.stamps, 0, kMostSteps + 1);
  return {};
}

bool BatchRing::full(const Batch& batch, uint32_t buffers) {
  return batch.steps >= kMostSteps || batch.bound + buffers > kMostBound;
}

Result<VkCommandBuffer> BatchRing::step() {
  if (current().recording && full(current(), 0)) ORRERY_TRY(submit());
  Batch& batch = current();
  if (!batch.recording) {
    ORRERY_TRY(finish(batch));
    ORRERY_TRY(begin(batch));
  }
  full_barrier(batch.commands);
  stamp(batch.commands, batch.stamps, batch.steps);
  batch.programs.push_back({});
  ++batch.steps;
  return batch.commands;
}

Result<DispatchRoom> BatchRing::dispatch_step(VkDescriptorSetLayout layout, uint32_t buffers,
                                              const DispatchNote& note) {
  if (current().recording && full(current(), buffers)) ORRERY_TRY(submit());
  DispatchRoom room;
  auto commands = step();
  if (!commands) return std::unexpected(std::move(commands.error()));
  room.commands = *commands;
  Batch& batch = current();
  if (buffers > 0) {
    VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = batch.descriptors;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout;
    const VkResult result = vkAllocateDescriptorSets(device_->handle(), &info, &room.set);
    if (result != VK_SUCCESS) return device_->error(result, "vkAllocateDescriptorSets");
  }
  auto* base = batch.memory.mapped().data();
  const uint64_t report = batch.notes.size() * sizeof(shader::EscapeReport);
  std::memset(base + report, 0, sizeof(shader::EscapeReport));
  room.escapes = batch.memory.address() + Bytes{report};
  const uint64_t info = kReportBytes + batch.bound * sizeof(shader::BoundInfo);
  room.bound_info = {reinterpret_cast<shader::BoundInfo*>(base + info), buffers};
  room.bound_info_address = batch.memory.address() + Bytes{info};
  batch.bound += buffers;
  batch.notes.push_back(note);
  batch.programs.back() = note.program;
  return room;
}

bool BatchRing::idle() const {
  for (const Batch& batch : batches_) {
    if (batch.recording || batch.running) return false;
  }
  return true;
}

Result<void> BatchRing::submit() {
  Batch& batch = current();
  if (!batch.recording) return {};
  barrier(batch.commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
  stamp(batch.commands, batch.stamps, batch.steps);
  VkResult result = vkEndCommandBuffer(batch.commands);
  batch.recording = false;
  if (result != VK_SUCCESS) return device_->error(result, "vkEndCommandBuffer");
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &batch.commands;
  batch.submitted_ns = measure::now_ns();
  result = vkQueueSubmit(device_->queue(), 1, &info, batch.fence);
  if (injection::point("vkQueueSubmit")) result = VK_ERROR_DEVICE_LOST;
  if (result != VK_SUCCESS) return device_->error(result, "vkQueueSubmit");
  batch.running = true;
  measure::count(measure::Counter::batches);
  ++submissions_;
  current_ = (current_ + 1) % batches_.size();
  return {};
}

uint32_t BatchRing::steps_done(const Batch& batch) const {
  // Lavapipe 22.3 answers once all work has ended.
  if (batch.stamps == VK_NULL_HANDLE || device_->facts().type == vulkan::DeviceType::cpu) return 0;
  struct Stamp {
    uint64_t value, available;
  };
  std::array<Stamp, kMostSteps + 1> stamps{};
  const uint32_t count = batch.steps + 1;
  vkGetQueryPoolResults(device_->handle(), batch.stamps, 0, count, count * sizeof(Stamp), stamps.data(), sizeof(Stamp),
                        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  return static_cast<uint32_t>(
      std::ranges::count_if(std::span(stamps).first(count), [](const Stamp& s) { return s.available != 0; }));
}

Result<void> BatchRing::finish(Batch& batch) {
  if (!batch.running) return {};
  constexpr uint64_t kSlice = 1'000'000'000;
  uint32_t done = 0;
  VkResult result = VK_TIMEOUT;
  measure::Span waiting(measure::SpanName::device_wait, batch.steps);
  for (int64_t waited = 0; result == VK_TIMEOUT && waited < patience_.count(); ++waited) {
    result = vkWaitForFences(device_->handle(), 1, &batch.fence, VK_TRUE, kSlice);
    if (heartbeat_ != nullptr) heartbeat_->fetch_add(1, std::memory_order_relaxed);
    if (injection::point("vkWaitForFences")) result = VK_ERROR_DEVICE_LOST;
    // The limit is for one step: a batch whose steps end goes on.
    if (const uint32_t now = result == VK_TIMEOUT ? steps_done(batch) : done; now != done) {
      done = now;
      waited = -1;
    }
    if (result == VK_TIMEOUT && waited == 4) log::warn("the device has been working on one step for 5 seconds");
  }
  if (result == VK_TIMEOUT) {
    return fail(ExitCode::internal, "the device did not finish one of {} dispatches in {} s; it is given up",
                batch.notes.size(), patience_.count());
  }
  batch.running = false;
  waiting.end();
  if (result != VK_SUCCESS) return device_->error(result, "vkWaitForFences");
  record_times(batch);
  result = vkResetFences(device_->handle(), 1, &batch.fence);
  if (result != VK_SUCCESS) return device_->error(result, "vkResetFences");
  for (size_t i = 0; i < batch.notes.size(); ++i) {
    Escape escape{batch.notes[i], {}};
    std::memcpy(&escape.report, batch.memory.mapped().data() + i * sizeof(shader::EscapeReport), sizeof(escape.report));
    const auto& r = escape.report;
    if (r.count != 0 || r.loops_cut != 0 || r.image_refusal != 0) escapes_.push_back(escape);
  }
  return {};
}

void BatchRing::record_times(Batch& batch) {
  const uint64_t now = measure::now_ns();
  constexpr measure::Track kDevice{measure::TrackKind::device, 0};
  std::array<uint64_t, kMostSteps + 1> stamps{};
  const uint32_t count = batch.steps + 1;
  if (batch.stamps == VK_NULL_HANDLE || batch.steps == 0 || injection::point("vkGetQueryPoolResults") ||
      vkGetQueryPoolResults(device_->handle(), batch.stamps, 0, count, count * sizeof(uint64_t), stamps.data(),
                            sizeof(uint64_t), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
    measure::record(measure::SpanName::device_run, batch.submitted_ns, now - batch.submitted_ns, 0, kDevice);
    return;
  }
  clock_.adjust(stamps[batch.steps], now);
  for (uint32_t i = 0; i < batch.steps; ++i) {
    measure::record(measure::SpanName::device_run, clock_.host_ns(stamps[i]),
                    clock_.duration_ns(stamps[i], stamps[i + 1]), batch.programs[i].value, kDevice);
  }
}

Result<void> BatchRing::wait() {
  ORRERY_TRY(submit());
  // In the order they were submitted: the current one is the oldest after a full round.
  for (size_t i = 0; i < batches_.size(); ++i) ORRERY_TRY(finish(batches_[(current_ + i) % batches_.size()]));
  return {};
}

bool BatchRing::stuck(std::chrono::seconds time) {
  for (Batch& batch : batches_) {
    if (!batch.running) continue;
    const auto limit = static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
    if (vkWaitForFences(device_->handle(), 1, &batch.fence, VK_TRUE, limit) == VK_TIMEOUT) return true;
    batch.running = false;
  }
  return false;
}

BatchRing::~BatchRing() {
  if (batches_.empty()) return;
  const VkDevice device = device_->handle();
  vkDeviceWaitIdle(device);
  for (Batch& batch : batches_) {
    vkDestroyFence(device, batch.fence, nullptr);
    vkDestroyQueryPool(device, batch.stamps, nullptr);
    vkDestroyDescriptorPool(device, batch.descriptors, nullptr);
    vkDestroyCommandPool(device, batch.pool, nullptr);
  }
}

}  // namespace orrery::dispatch
