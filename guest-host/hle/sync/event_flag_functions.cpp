#include <algorithm>

#include "guest-host/hle/sync/library.hpp"

namespace orrery::hle::sync {
namespace {

constexpr auto kLibrary = "libkernel";

int32_t answer(int error) { return error == 0 ? 0 : kernel_error(error); }

// The pattern goes out whether the wait was satisfied or not; a null pointer asks for none.
int give_back(Environment& env, GuestAddress out, uint64_t seen, int error) {
  const bool tells = error == 0 || error == kEtimedout || error == kEbusy;
  if (out.value == 0 || !tells) return error;
  return env.memory.write_value(out, seen) ? error : kEfault;
}

int wait(Environment& env, EventFlags& flags, clock::GuestClock& clock, uint64_t handle, uint64_t bits, uint32_t mode,
         GuestAddress out, GuestAddress timeout) {
  // Checked before bits are cleared, so that none is lost to a bad pointer.
  if (out.value != 0 && !env.memory.covers(out, Bytes{8}, memory::kCpuWrite)) return kEfault;
  uint64_t seen = 0;
  if (timeout.value == 0) {
    const int error = flags.wait(handle, bits, mode, seen, clock::Deadline::never(clock));
    return give_back(env, out, seen, error);
  }
  const auto micros = env.memory.read_value<uint32_t>(timeout);
  if (!micros || !env.memory.covers(timeout, Bytes{4}, memory::kCpuWrite)) return kEfault;
  clock.asked();
  const auto before = clock.now();
  const int error = flags.wait(handle, bits, mode, seen, {clock, std::chrono::microseconds(*micros)});
  // What is left of the time goes back.
  const int64_t spent = (clock.now() - before).count() / 1000;
  const uint32_t left = error == kEtimedout ? 0 : static_cast<uint32_t>(std::max<int64_t>(*micros - spent, 0));
  if (!env.memory.write_value(timeout, left)) return kEfault;
  return give_back(env, out, seen, error);
}

}  // namespace

void add_event_flags(Registry& registry, Environment& env, EventFlags& flags, clock::GuestClock& clock) {
  registry.add(
      kLibrary, "sceKernelCreateEventFlag",
      [&](GuestAddress out, GuestAddress /*name*/, uint32_t attributes, uint64_t initial, GuestAddress /*options*/) {
        if (!env.memory.covers(out, Bytes{8}, memory::kCpuWrite)) return kernel_error(kEfault);
        const uint64_t handle = flags.create(attributes, initial);
        if (handle == 0) return kernel_error(kEinval);
        return env.memory.write_value(out, handle) ? 0 : kernel_error(kEfault);
      });
  registry.add(kLibrary, "sceKernelDeleteEventFlag", [&](uint64_t handle) { return answer(flags.destroy(handle)); });
  registry.add(kLibrary, "sceKernelSetEventFlag",
               [&](uint64_t handle, uint64_t bits) { return answer(flags.set(handle, bits)); });
  registry.add(kLibrary, "sceKernelClearEventFlag",
               [&](uint64_t handle, uint64_t keep) { return answer(flags.clear(handle, keep)); });
  registry.add(kLibrary, "sceKernelPollEventFlag",
               [&](uint64_t handle, uint64_t bits, uint32_t mode, GuestAddress out) {
                 if (out.value != 0 && !env.memory.covers(out, Bytes{8}, memory::kCpuWrite)) {
                   return kernel_error(kEfault);
                 }
                 clock.asked();
                 uint64_t seen = 0;
                 const int error = flags.poll(handle, bits, mode, seen);
                 return answer(give_back(env, out, seen, error));
               });
  registry.add(kLibrary, "sceKernelWaitEventFlag",
               [&](uint64_t handle, uint64_t bits, uint32_t mode, GuestAddress out, GuestAddress timeout) {
                 return answer(wait(env, flags, clock, handle, bits, mode, out, timeout));
               });
  registry.add(kLibrary, "sceKernelCancelEventFlag", [&](uint64_t handle, uint64_t bits, GuestAddress waiters_out) {
    uint32_t waiters = 0;
    const int error = flags.cancel(handle, bits, waiters);
    if (error == 0 && waiters_out.value != 0 && !env.memory.write_value(waiters_out, waiters)) {
      return kernel_error(kEfault);
    }
    return answer(error);
  });
}

}  // namespace orrery::hle::sync
