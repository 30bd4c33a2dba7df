#include "guest-host/hle/pad/pad.hpp"

#include <cstddef>
#include <memory>

namespace orrery::hle::pad {

static_assert(offsetof(PadData, orientation) == 12 && offsetof(PadData, acceleration) == 28);
static_assert(offsetof(PadData, angular_velocity) == 40 && offsetof(PadData, touch) == 52);
static_assert(offsetof(PadData, connected) == 76 && offsetof(PadData, timestamp_us) == 80);

void Pad::set(const link::PadInput& input) {
  const std::lock_guard lock(mutex_);
  input_ = input;
}

PadData Pad::read(const clock::GuestClock& clock) const {
  PadData data;
  const std::lock_guard lock(mutex_);
  data.buttons = input_.buttons;
  data.left_x = input_.left_x;
  data.left_y = input_.left_y;
  data.right_x = input_.right_x;
  data.right_y = input_.right_y;
  data.l2 = input_.l2;
  data.r2 = input_.r2;
  data.timestamp_us = static_cast<uint64_t>(clock.now().count()) / 1000;
  return data;
}

namespace {

constexpr auto kLibrary = "libScePad";
// As public headers name them.
constexpr int32_t kInvalidArgument = static_cast<int32_t>(0x80920001);
constexpr int32_t kInvalidHandle = static_cast<int32_t>(0x80920003);
constexpr int32_t kNotInitialised = static_cast<int32_t>(0x80920005);
constexpr int32_t kHandle = 1;

// What the library remembers; opening twice answers the same handle.
struct Port {
  std::mutex mutex;
  bool initialised = false;
  bool open = false;
  bool usable(int32_t handle) {
    const std::lock_guard lock(mutex);
    return open && handle == kHandle;
  }
};

}  // namespace

void add_library(Registry& registry, Environment& env, Pad& pad, clock::GuestClock& clock) {
  auto port = std::make_shared<Port>();
  registry.add(kLibrary, "scePadInit", [port]() {
    const std::lock_guard lock(port->mutex);
    port->initialised = true;
    return 0;
  });
  registry.add(kLibrary, "scePadOpen",
               [port](int32_t /*user*/, int32_t type, int32_t index, GuestAddress /*parameter*/) {
                 const std::lock_guard lock(port->mutex);
                 if (!port->initialised) return kNotInitialised;
                 if (type != 0 || index != 0) return kInvalidArgument;
                 port->open = true;
                 return kHandle;
               });
  registry.add(kLibrary, "scePadGetHandle", [port](int32_t /*user*/, int32_t type, int32_t index) {
    const std::lock_guard lock(port->mutex);
    if (!port->initialised) return kNotInitialised;
    if (type != 0 || index != 0) return kInvalidArgument;
    return port->open ? kHandle : kInvalidHandle;
  });
  registry.add(kLibrary, "scePadReadState", [&, port](int32_t handle, GuestAddress to) {
    if (!port->usable(handle)) return kInvalidHandle;
    return env.memory.write_value(to, pad.read(clock)) ? 0 : kInvalidArgument;
  });
  // Answers how many records it wrote: we keep the present state only.
  registry.add(kLibrary, "scePadRead", [&, port](int32_t handle, GuestAddress to, int32_t most) {
    if (!port->usable(handle)) return kInvalidHandle;
    if (most < 1 || most > 64) return kInvalidArgument;
    return env.memory.write_value(to, pad.read(clock)) ? 1 : kInvalidArgument;
  });
  registry.add(kLibrary, "scePadClose", [port](int32_t handle) {
    const std::lock_guard lock(port->mutex);
    if (!port->open || handle != kHandle) return kInvalidHandle;
    port->open = false;
    return 0;
  });
  // The privilege of a process means nothing here.
  registry.add(kLibrary, "scePadSetProcessPrivilege", [](int32_t) { return 0; });
  // Outputs that no host controller gets; said once.
  for (const char* name : {"scePadSetLightBar", "scePadResetLightBar", "scePadSetVibration"}) {
    registry.add(kLibrary, name, [&env, port, name](int32_t handle) {
      if (!port->usable(handle)) return kInvalidHandle;
      env.refusals.refuse(name, "output to the controller has no effect");
      return 0;
    });
  }
}

}  // namespace orrery::hle::pad
