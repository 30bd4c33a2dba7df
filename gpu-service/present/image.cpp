// VideoOut buffers as images.
#include <cstring>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {
namespace {

constexpr uint32_t kLargestSide = 8192;
constexpr uint32_t kTiled = 0, kLinear = 1;
// 8:8:8:8 with blue in the lowest byte: B,G,R,A in memory, a dword reads 0xAARRGGBB.
constexpr uint64_t kFormatBgra8 = 0x8000000000000000;

// The display ignores alpha; what is shown and kept is opaque.
constexpr uint32_t rgba_of(uint32_t bgra) {
  return (bgra & 0x0000ff00) | (bgra >> 16 & 0xff) | (bgra & 0xff) << 16 | 0xff000000;
}

}  // namespace

Result<uint64_t> buffer_size(const protocol::FlipBody& flip) {
  const bool sides_fit =
      flip.width != 0 && flip.height != 0 && flip.width <= kLargestSide && flip.height <= kLargestSide;
  if (!sides_fit) return fail(ExitCode::usage, "a flip of {}x{} pixels is not possible", flip.width, flip.height);
  if (flip.tiling == kTiled) {
    return uint64_t{(flip.width + 127) / 128} * ((flip.height + 127) / 128) * 0x10000;
  }
  if (flip.tiling != kLinear) return fail(ExitCode::usage, "a flip with tiling {} is not handled", flip.tiling);
  if (flip.pitch < flip.width || flip.pitch > 2 * kLargestSide) {
    return fail(ExitCode::usage, "a flip {} pixels wide with a pitch of {} pixels is not possible", flip.width,
                flip.pitch);
  }
  // The last row may end at its last pixel.
  return (uint64_t{flip.pitch} * (flip.height - 1) + flip.width) * 4;
}

Result<Image> image_of(const protocol::FlipBody& flip, std::span<const std::byte> bytes) {
  auto size = buffer_size(flip);
  if (!size) return std::unexpected(std::move(size.error()));
  if (flip.pixel_format != kFormatBgra8) {
    return fail(ExitCode::usage, "a flip with pixel format {:#x} is not handled ({:#x} is)", flip.pixel_format,
                kFormatBgra8);
  }
  if (bytes.size() < *size) {
    return fail(ExitCode::usage, "a flip needs {} bytes where {} are there", *size, bytes.size());
  }
  Image image{flip.width, flip.height, {}};
  image.pixels.resize(size_t{flip.width} * flip.height);
  const auto dword = [&](uint64_t index) {
    uint32_t value;
    std::memcpy(&value, bytes.data() + index * 4, sizeof value);
    return value;
  };
  uint32_t* to = image.pixels.data();
  for (uint32_t y = 0; y < flip.height; ++y) {
    for (uint32_t x = 0; x < flip.width; ++x) {
      const uint64_t index = flip.tiling == kTiled ? tiled_index(x, y, flip.width) : uint64_t{y} * flip.pitch + x;
      *to++ = rgba_of(dword(index));
    }
  }
  return image;
}

}  // namespace orrery::present
