#include "guest-host/hle/equeue/library.hpp"

#include <algorithm>

namespace orrery::hle::equeue {
namespace {

constexpr auto kLibrary = "libkernel";
constexpr int32_t kMostAtOnce = 1024;

int32_t wait_queue(Environment& env, EventQueues& queues, clock::GuestClock& clock, uint64_t queue, GuestAddress events,
                   int32_t most, GuestAddress count_out, GuestAddress timeout) {
  if (most < 1) return kernel_error(kEinval);
  most = std::min(most, kMostAtOnce);
  const Bytes room{sizeof(KernelEvent) * static_cast<uint64_t>(most)};
  // Checked before anything is taken, so that no event is lost to a bad pointer.
  if (!env.memory.covers(events, room, memory::kCpuWrite)) return kernel_error(kEfault);
  if (count_out.value != 0 && !env.memory.covers(count_out, Bytes{4}, memory::kCpuWrite)) return kernel_error(kEfault);
  auto deadline = clock::Deadline::never(clock);
  if (timeout.value != 0) {
    const auto micros = env.memory.read_value<uint32_t>(timeout);
    if (!micros) return kernel_error(kEfault);
    deadline = clock::Deadline(clock, std::chrono::microseconds(*micros));
  }
  std::vector<KernelEvent> taken;
  clock.asked();
  const WaitResult result = queues.wait(queue, static_cast<size_t>(most), deadline, taken);
  if (result == WaitResult::no_queue) return kernel_error(kEbadf);
  const auto count = static_cast<int32_t>(taken.size());
  if (count_out.value != 0 && !env.memory.write_value(count_out, count)) return kernel_error(kEfault);
  if (result == WaitResult::timed_out) return kernel_error(kEtimedout);
  return env.memory.write(events, std::as_bytes(std::span(taken))) ? 0 : kernel_error(kEfault);
}

// Reads one field of an event in guest memory; 0 for a bad pointer.
template <class T>
void add_getter(Registry& registry, Environment& env, const char* name, T KernelEvent::* field) {
  registry.add(kLibrary, name, [&env, field](GuestAddress event) {
    const auto value = env.memory.read_value<KernelEvent>(event);
    return value ? (*value).*field : T{};
  });
}

}  // namespace

void add_library(Registry& registry, Environment& env, EventQueues& queues, clock::GuestClock& clock) {
  registry.add(kLibrary, "sceKernelCreateEqueue", [&](GuestAddress out, GuestAddress name) {
    if (!env.memory.covers(out, Bytes{8}, memory::kCpuWrite)) return kernel_error(kEfault);
    std::string text;
    if (name.value != 0) {
      auto read = env.memory.read_string(name, 64);
      if (!read) return kernel_error(kEfault);
      text = std::move(*read);
    }
    return env.memory.write_value(out, queues.create(std::move(text))) ? 0 : kernel_error(kEfault);
  });
  registry.add(kLibrary, "sceKernelDeleteEqueue",
               [&](uint64_t queue) { return queues.destroy(queue) ? 0 : kernel_error(kEbadf); });
  registry.add(kLibrary, "sceKernelWaitEqueue",
               [&](uint64_t queue, GuestAddress events, int32_t most, GuestAddress count_out, GuestAddress timeout) {
                 return wait_queue(env, queues, clock, queue, events, most, count_out, timeout);
               });

  for (const char* name : {"sceKernelAddUserEvent", "sceKernelAddUserEventEdge"}) {
    registry.add(kLibrary, name, [&](uint64_t queue, int32_t ident) {
      const auto id = static_cast<uint64_t>(static_cast<int64_t>(ident));
      return queues.add(queue, id, kFilterUser, 0) ? 0 : kernel_error(kEbadf);
    });
  }
  registry.add(kLibrary, "sceKernelDeleteUserEvent", [&](uint64_t queue, int32_t ident) {
    if (!queues.exists(queue)) return kernel_error(kEbadf);
    const auto id = static_cast<uint64_t>(static_cast<int64_t>(ident));
    return queues.remove(queue, id, kFilterUser) ? 0 : kernel_error(kEnoent);
  });
  registry.add(kLibrary, "sceKernelTriggerUserEvent", [&](uint64_t queue, int32_t ident, uint64_t user_data) {
    if (!queues.exists(queue)) return kernel_error(kEbadf);
    const auto id = static_cast<uint64_t>(static_cast<int64_t>(ident));
    return queues.trigger_user(queue, id, user_data) ? 0 : kernel_error(kEnoent);
  });

  add_getter(registry, env, "sceKernelGetEventId", &KernelEvent::ident);
  add_getter(registry, env, "sceKernelGetEventFilter", &KernelEvent::filter);
  add_getter(registry, env, "sceKernelGetEventFflags", &KernelEvent::fflags);
  add_getter(registry, env, "sceKernelGetEventData", &KernelEvent::data);
  add_getter(registry, env, "sceKernelGetEventUserData", &KernelEvent::user_data);
}

}  // namespace orrery::hle::equeue
