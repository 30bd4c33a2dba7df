#include <png.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "gpu-service/present/png_file.hpp"

namespace orrery::present {
namespace {

// Alpha is left out: the display ignores it too.
std::vector<std::byte> rgb_of(const Image& image) {
  std::vector<std::byte> rgb(image.pixels.size() * 3);
  std::byte* to = rgb.data();
  for (const uint32_t pixel : image.pixels) {
    *to++ = static_cast<std::byte>(pixel);
    *to++ = static_cast<std::byte>(pixel >> 8);
    *to++ = static_cast<std::byte>(pixel >> 16);
  }
  return rgb;
}

}  // namespace

Result<void> write_png(const std::string& path, const Image& image) {
  if (image.pixels.size() != size_t{image.width} * image.height || image.pixels.empty()) {
    return fail(ExitCode::internal, "an image of {}x{} holds {} pixels", image.width, image.height,
                image.pixels.size());
  }
  const std::string temporary = fmt::format("{}.{}.part", path, getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wbx");
  if (file == nullptr && errno == EEXIST) {
    std::remove(temporary.c_str());
    file = std::fopen(temporary.c_str(), "wbx");
  }
  if (file == nullptr) return fail(ExitCode::usage, "can't create {}: {}", temporary, std::strerror(errno));
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width;
  png.height = image.height;
  png.format = PNG_FORMAT_RGB;
  png.flags = PNG_IMAGE_FLAG_FAST;
  const auto rgb = rgb_of(image);
  const bool written = png_image_write_to_stdio(&png, file, 0, rgb.data(), 0, nullptr) != 0;
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) {
    const std::string why = written ? std::strerror(errno) : png.message;
    std::remove(temporary.c_str());
    return fail(ExitCode::usage, "can't write {}: {}", path, why);
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::remove(temporary.c_str());
    return fail(ExitCode::usage, "can't rename {} to {}: {}", temporary, path, error.message());
  }
  return {};
}

Result<Image> read_png(const std::string& path) {
  constexpr uint32_t kMost = 16384;  // pixels each way, as of a VideoOut buffer
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&png, path.c_str()) == 0) {
    return fail(ExitCode::file_malformed, "can't read {}: {}", path, png.message);
  }
  if (png.width > kMost || png.height > kMost) {
    png_image_free(&png);
    return fail(ExitCode::file_malformed, "can't read {}: {}x{} pixels", path, png.width, png.height);
  }
  png.format = PNG_FORMAT_RGBA;
  Image image{png.width, png.height, std::vector<uint32_t>(size_t{png.width} * png.height)};
  if (png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) == 0) {
    return fail(ExitCode::file_malformed, "can't read {}: {}", path, png.message);
  }
  return image;
}

}  // namespace orrery::present
