// VideoOut buffers as images.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>

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

void copy_pixels(const std::byte* from, uint32_t* to, uint32_t count) {
  std::memcpy(to, from, size_t{count} * 4);
  for (uint32_t i = 0; i < count; ++i) to[i] = rgba_of(to[i]);
}

constexpr uint32_t kBlockSide = 128;

// Four pixels that begin at a multiple of four lie side by side in a tiled surface. Block after block, so that each is
// read while it is in the cache.
void untile_rows(const std::byte* from, uint32_t top, Image& image) {
  constexpr uint32_t kTogether = 4;
  for (uint32_t left = 0; left < image.width; left += kBlockSide) {
    const uint32_t bottom = std::min(top + kBlockSide, image.height), right = std::min(left + kBlockSide, image.width);
    for (uint32_t y = top; y < bottom; ++y) {
      uint32_t* const row = image.pixels.data() + size_t{y} * image.width;
      for (uint32_t x = left; x < right; x += kTogether) {
        copy_pixels(from + tiled_index(x, y, image.width) * 4, row + x, std::min(kTogether, right - x));
      }
    }
  }
}

// Rows of blocks by several threads where a picture is large: one thread needs 3 ms for 1920x1080.
void untile(const std::byte* from, Image& image) {
  constexpr uint64_t kWorthAThread = 256 * 1024;  // pixels
  const uint64_t worth = uint64_t{image.width} * image.height / kWorthAThread;
  const uint64_t threads = std::min({worth, uint64_t{std::thread::hardware_concurrency()}, uint64_t{8}});
  std::atomic<uint32_t> next{0};
  const auto work = [&] {
    for (uint32_t top; (top = next.fetch_add(kBlockSide)) < image.height;) untile_rows(from, top, image);
  };
  std::vector<std::jthread> others;
  try {
    for (uint64_t i = 1; i < threads; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // With those that there are.
  }
  work();
}

}  // namespace

Result<uint64_t> buffer_size(const protocol::FlipBody& flip) {
  if (flip.pixel_format != kFormatBgra8) {
    return fail(ExitCode::usage, "a flip with pixel format {:#x} is not handled ({:#x} is)", flip.pixel_format,
                kFormatBgra8);
  }
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

Result<Image> image_of(const protocol::FlipBody& flip, std::span<const std::byte> bytes, Image reused) {
  auto size = buffer_size(flip);
  if (!size) return std::unexpected(std::move(size.error()));
  if (bytes.size() < *size) {
    return fail(ExitCode::usage, "a flip needs {} bytes where {} are there", *size, bytes.size());
  }
  Image image{flip.width, flip.height, std::move(reused.pixels)};
  image.pixels.resize(size_t{flip.width} * flip.height);
  if (flip.tiling == kTiled) {
    untile(bytes.data(), image);
  } else {
    for (uint32_t y = 0; y < flip.height; ++y) {
      copy_pixels(bytes.data() + uint64_t{y} * flip.pitch * 4, image.pixels.data() + size_t{y} * flip.width,
                  flip.width);
    }
  }
  return image;
}

}  // namespace orrery::present
