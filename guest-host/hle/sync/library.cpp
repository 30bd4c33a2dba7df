#include "guest-host/hle/sync/library.hpp"

#include <algorithm>

namespace orrery::hle::sync {
namespace {

constexpr auto kLibrary = "libkernel";

int32_t answer(int error) { return error == 0 ? 0 : kernel_error(error); }

int wait(Environment& env, Semaphores& semaphores, clock::GuestClock& clock, uint64_t handle, int32_t need,
         GuestAddress timeout) {
  if (timeout.value == 0) return semaphores.wait(handle, need, clock::Deadline::never(clock));
  const auto micros = env.memory.read_value<uint32_t>(timeout);
  if (!micros || !env.memory.covers(timeout, Bytes{4}, memory::kCpuWrite)) return kEfault;
  clock.asked();
  const auto before = clock.now();
  const int error = semaphores.wait(handle, need, {clock, std::chrono::microseconds(*micros)});
  // What is left of the time goes back.
  const int64_t spent = (clock.now() - before).count() / 1000;
  const uint32_t left = error == kEtimedout ? 0 : static_cast<uint32_t>(std::max<int64_t>(*micros - spent, 0));
  return env.memory.write_value(timeout, left) ? error : kEfault;
}

}  // namespace

void add_library(Registry& registry, Environment& env, Semaphores& semaphores, clock::GuestClock& clock) {
  registry.add(kLibrary, "sceKernelCreateSema",
               [&](GuestAddress out, GuestAddress /*name*/, uint32_t /*attributes*/, int32_t initial, int32_t most,
                   GuestAddress /*options*/) {
                 if (!env.memory.covers(out, Bytes{8}, memory::kCpuWrite)) return kernel_error(kEfault);
                 const uint64_t handle = semaphores.create(initial, most);
                 if (handle == 0) return kernel_error(kEinval);
                 return env.memory.write_value(out, handle) ? 0 : kernel_error(kEfault);
               });
  registry.add(kLibrary, "sceKernelDeleteSema", [&](uint64_t handle) { return answer(semaphores.destroy(handle)); });
  registry.add(kLibrary, "sceKernelSignalSema",
               [&](uint64_t handle, int32_t count) { return answer(semaphores.signal(handle, count)); });
  registry.add(kLibrary, "sceKernelWaitSema", [&](uint64_t handle, int32_t need, GuestAddress timeout) {
    return answer(wait(env, semaphores, clock, handle, need, timeout));
  });
  registry.add(kLibrary, "sceKernelPollSema", [&](uint64_t handle, int32_t need) {
    clock.asked();
    return answer(semaphores.poll(handle, need));
  });
  registry.add(kLibrary, "sceKernelCancelSema", [&](uint64_t handle, int32_t count, GuestAddress waiters_out) {
    uint32_t waiters = 0;
    const int error = semaphores.cancel(handle, count, waiters);
    if (error == 0 && waiters_out.value != 0 && !env.memory.write_value(waiters_out, waiters)) {
      return kernel_error(kEfault);
    }
    return answer(error);
  });
}

}  // namespace orrery::hle::sync
