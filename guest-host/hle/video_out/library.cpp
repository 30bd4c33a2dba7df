#include "guest-host/hle/video_out/library.hpp"

#include <array>
#include <vector>

namespace orrery::hle::video_out {
namespace {

constexpr auto kLibrary = "libSceVideoOut";

// What SetBufferAttribute2 writes, exactly 0x50 bytes (measured).
struct Attribute2 {
  uint32_t reserved_0 = 0;
  uint32_t tiling = 0;
  uint32_t reserved_8 = 0;
  uint32_t width = 0, height = 0;
  uint32_t reserved_14 = 0;
  uint64_t option = 0;
  uint64_t pixel_format = 0;
  uint64_t dcc_clear = 0;
  uint32_t dcc_control = 0;
  uint32_t reserved_34 = 0;
  std::array<uint64_t, 3> reserved_38{};
};
static_assert(sizeof(Attribute2) == 0x50);

// The previous generation's, as public headers have it.
struct Attribute {
  uint32_t pixel_format = 0;
  uint32_t tiling = 0;
  uint32_t aspect = 0;
  uint32_t width = 0, height = 0, pitch = 0;
  uint32_t option = 0, reserved_1c = 0;
  uint64_t reserved_20 = 0;
};
static_assert(sizeof(Attribute) == 0x28);

struct BufferRecord {
  uint64_t data, metadata, reserved[2];
};

struct ResolutionStatus {
  uint32_t width = 1920, height = 1080, pane_width = 1920, pane_height = 1080;
  uint64_t refresh_rate = 3;  // 59.94 Hz
  float screen_inches = 50.0f;
  uint16_t flags = 0, reserved = 0;
  std::array<uint32_t, 3> more{};
  uint32_t padding = 0;
};
static_assert(sizeof(ResolutionStatus) == 0x30);

// A row of a linear buffer is a whole number of 256-byte pieces.
uint32_t linear_pitch(uint32_t width) { return static_cast<uint32_t>(align_up(width, 64)); }

// The previous generation's 32-bit formats as the current 64-bit ones: B,G,R,A and R,G,B,A in memory order.
uint64_t widened_format(uint32_t format) {
  if (format == 0x80002200) return 0x8000'0000'2200'0000;
  return uint64_t{format} << 32;
}

int32_t register_buffers_2(Environment& env, VideoOut& out, int32_t handle, int32_t first, GuestAddress records,
                           int32_t count, GuestAddress attribute_at) {
  if (!out.is_open(handle)) return kInvalidHandle;
  if (count < 1 || count > static_cast<int32_t>(kMaxBuffers)) return kInvalidValue;
  const auto attribute = env.memory.read_value<Attribute2>(attribute_at);
  if (!attribute) return kInvalidAddress;
  std::vector<BufferRecord> buffers(static_cast<size_t>(count));
  if (!env.memory.read(records, std::as_writable_bytes(std::span(buffers)))) return kInvalidAddress;
  std::vector<GuestAddress> addresses;
  for (const BufferRecord& buffer : buffers) addresses.push_back({buffer.data});
  if (attribute->dcc_control != 0) {
    env.refusals.refuse("sceVideoOutRegisterBuffers2", "compressed (DCC) display buffers");
    return kInvalidValue;
  }
  return out.register_buffers(handle, first, addresses,
                              {attribute->width, attribute->height, linear_pitch(attribute->width), attribute->tiling,
                               attribute->pixel_format});
}

int32_t register_buffers_1(Environment& env, VideoOut& out, int32_t handle, int32_t first, GuestAddress list,
                           int32_t count, GuestAddress attribute_at) {
  if (!out.is_open(handle)) return kInvalidHandle;
  if (count < 1 || count > static_cast<int32_t>(kMaxBuffers)) return kInvalidValue;
  const auto attribute = env.memory.read_value<Attribute>(attribute_at);
  if (!attribute) return kInvalidAddress;
  std::vector<GuestAddress> addresses(static_cast<size_t>(count));
  if (!env.memory.read(list, std::as_writable_bytes(std::span(addresses)))) return kInvalidAddress;
  const uint32_t pitch = attribute->pitch == 0 ? linear_pitch(attribute->width) : attribute->pitch;
  if (pitch < attribute->width || pitch > 0x10000) return kInvalidValue;
  return out.register_buffers(
      handle, first, addresses,
      {attribute->width, attribute->height, pitch, attribute->tiling, widened_format(attribute->pixel_format)});
}

void add_buffers(Registry& registry, Environment& env, VideoOut& out) {
  registry.add(kLibrary, "sceVideoOutSetBufferAttribute2",
               [&env](GuestAddress to, uint64_t format, uint32_t tiling, uint32_t width, uint32_t height,
                      uint64_t option, uint32_t dcc_control, uint64_t dcc_clear) {
                 Attribute2 attribute;
                 attribute.tiling = tiling;
                 attribute.width = width;
                 attribute.height = height;
                 attribute.option = option;
                 attribute.pixel_format = format;
                 attribute.dcc_clear = dcc_clear;
                 attribute.dcc_control = dcc_control;
                 return env.memory.write_value(to, attribute) ? 0 : kInvalidAddress;
               });
  registry.add(kLibrary, "sceVideoOutSetBufferAttribute",
               [&env](GuestAddress to, uint32_t format, uint32_t tiling, uint32_t aspect, uint32_t width,
                      uint32_t height, uint32_t pitch) {
                 Attribute attribute;
                 attribute.pixel_format = format;
                 attribute.tiling = tiling;
                 attribute.aspect = aspect;
                 attribute.width = width;
                 attribute.height = height;
                 attribute.pitch = pitch;
                 return env.memory.write_value(to, attribute) ? 0 : kInvalidAddress;
               });
  registry.add(kLibrary, "sceVideoOutRegisterBuffers2",
               [&env, &out](int32_t handle, int32_t /*set*/, int32_t first, GuestAddress records, int32_t count,
                            GuestAddress attribute, int32_t /*category*/, GuestAddress /*option*/) {
                 return register_buffers_2(env, out, handle, first, records, count, attribute);
               });
  registry.add(kLibrary, "sceVideoOutRegisterBuffers",
               [&env, &out](int32_t handle, int32_t first, GuestAddress list, int32_t count, GuestAddress attribute) {
                 return register_buffers_1(env, out, handle, first, list, count, attribute);
               });
  registry.add(kLibrary, "sceVideoOutUnregisterBuffers",
               [&out](int32_t handle, int32_t set) { return out.unregister_buffers(handle, set); });
}

}  // namespace

void add_library(Registry& registry, Environment& env, VideoOut& out) {
  registry.add(kLibrary, "sceVideoOutOpen",
               [&out](int32_t user, int32_t bus, int32_t index, GuestAddress /*parameter*/) {
                 return out.open(user, bus, index);
               });
  registry.add(kLibrary, "sceVideoOutClose", [&out](int32_t handle) { return out.close(handle); });
  add_buffers(registry, env, out);
  registry.add(kLibrary, "sceVideoOutSetFlipRate",
               [&out](int32_t handle, int32_t rate) { return out.set_flip_rate(handle, rate); });
  registry.add(kLibrary, "sceVideoOutSubmitFlip",
               [&env, &out](int32_t handle, int32_t buffer, uint32_t /*mode*/, int64_t argument) {
                 if (buffer == -1 && out.is_open(handle)) {
                   env.refusals.refuse("sceVideoOutSubmitFlip", "a flip to no buffer (-1)");
                 }
                 return out.submit_flip(handle, buffer, argument);
               });
  registry.add(kLibrary, "sceVideoOutGetFlipStatus", [&env, &out](int32_t handle, GuestAddress to) {
    FlipStatus status;
    if (const int32_t error = out.status(handle, status); error != 0) return error;
    return env.memory.write_value(to, status) ? 0 : kInvalidAddress;
  });
  registry.add(kLibrary, "sceVideoOutIsFlipPending", [&out](int32_t handle) { return out.pending(handle); });
  registry.add(kLibrary, "sceVideoOutGetResolutionStatus", [&env, &out](int32_t handle, GuestAddress to) {
    if (!out.is_open(handle)) return kInvalidHandle;
    return env.memory.write_value(to, ResolutionStatus{}) ? 0 : kInvalidAddress;
  });
  registry.add(kLibrary, "sceVideoOutAddFlipEvent", [&out](uint64_t queue, int32_t handle, uint64_t user_data) {
    return out.add_flip_event(queue, handle, user_data);
  });
  registry.add(kLibrary, "sceVideoOutDeleteFlipEvent",
               [&out](uint64_t queue, int32_t handle) { return out.remove_flip_event(queue, handle); });
  registry.add(kLibrary, "sceVideoOutWaitVblank", [&out](int32_t handle) { return out.wait_vblank(handle); });
}

}  // namespace orrery::hle::video_out
