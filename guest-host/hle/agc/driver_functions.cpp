#include "guest-host/hle/agc/libraries.hpp"

namespace orrery::hle::agc {
namespace {

constexpr auto kLibrary = "libSceAgcDriver";

}  // namespace

void add_driver(Registry& registry, Driver& driver, equeue::EventQueues& queues, Builders& b) {
  registry.add(kLibrary, "sceAgcDriverCreateQueue", [&](uint32_t type, GuestAddress out, uint32_t /*flags*/) {
    if (!b.memory.covers(out, Bytes{8}, memory::kCpuWrite)) return kDriverError;
    const auto handle = driver.create_queue(type);
    if (!handle) return kDriverError;
    return b.memory.write_value(out, *handle) ? 0 : kDriverError;
  });
  // The console answers this, and the queue stays usable (measured).
  registry.add(kLibrary, "sceAgcDriverDestroyQueue", [](uint64_t /*queue*/) { return kDriverError; });

  registry.add(kLibrary, "sceAgcDriverSubmitDcb",
               [&](GuestAddress description) { return driver.submit_at(kGraphicsQueue, description); });
  registry.add(kLibrary, "sceAgcDriverSubmitCommandBuffer", [&](uint64_t handle, GuestAddress description) {
    const auto queue = driver.queue_of(handle);
    if (!queue) {
      b.refusals.refuse("sceAgcDriverSubmitCommandBuffer", "a queue that sceAgcDriverCreateQueue did not make");
      return kDriverError;
    }
    return driver.submit_at(*queue, description);
  });
  registry.add(kLibrary, "sceAgcDriverSubmitAcb", [&](uint64_t owner, GuestAddress description) {
    const auto queue = driver.queue_of_owner(owner);
    return queue ? driver.submit_at(*queue, description) : kDriverError;
  });

  registry.add(kLibrary, "sceAgcDriverAddEqEvent", [&](uint64_t queue, uint64_t ident, uint64_t user_data) {
    return queues.add(queue, ident, equeue::kFilterGraphics, user_data) ? 0 : kernel_error(kEbadf);
  });
  registry.add(kLibrary, "sceAgcDriverDeleteEqEvent", [&](uint64_t queue, uint64_t ident) {
    return queues.remove(queue, ident, equeue::kFilterGraphics) ? 0 : kernel_error(kEbadf);
  });

  // Resource registration does not exist on a retail console (measured).
  for (const char* name :
       {"sceAgcDriverRegisterOwner", "sceAgcDriverRegisterDefaultOwner", "sceAgcDriverRegisterResource",
        "sceAgcDriverUnregisterResource", "sceAgcDriverInitResourceRegistration"}) {
    registry.add(kLibrary, name, []() { return kNotOnRetail; });
  }
}

}  // namespace orrery::hle::agc
