#include "gpu-service/frame_report/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>

#include "gpu-service/present/png_file.hpp"
#include "shared/plain_file.hpp"

namespace orrery::frame_report {
namespace {

namespace fs = std::filesystem;

// A list of a day's flips at 60 a second is a third of this.
constexpr uint64_t kLargestList = 1ull << 30;

Result<present::FrameListing> read_list(const fs::path& folder) {
  const fs::path path = folder / present::kFrameList;
  const PlainFile file = open_plain_file(path);
  if (!file.fd || !file.plain || file.size > kLargestList) {
    return fail(ExitCode::file_missing, "{} has no list of frames ({}): keep frames with --keep-frames",
                folder.native(), present::kFrameList);
  }
  std::string text(file.size, '\0');
  text.resize(read_all(file.fd.get(), std::as_writable_bytes(std::span(text))));
  auto frames = present::parse_frame_list(text);
  if (!frames) return forward(std::move(frames), "reading " + path.native());
  return frames;
}

// Absolute differences of the three channels.
std::array<uint32_t, 3> channels(uint32_t a, uint32_t b) {
  std::array<uint32_t, 3> out{};
  for (size_t i = 0; i < 3; ++i) {
    const uint32_t x = a >> (8 * i) & 0xff, y = b >> (8 * i) & 0xff;
    out[i] = std::max(x, y) - std::min(x, y);
  }
  return out;
}

Result<FrameDifference> compare_pictures(uint64_t flip, const fs::path& first, const fs::path& second,
                                         const fs::path& out) {
  const std::string name = present::frame_name(flip);
  std::error_code ignored;
  if (!fs::exists(first / name, ignored) || !fs::exists(second / name, ignored)) {
    return FrameDifference{flip, "their hashes differ (not kept as PNG by both)", {}};
  }
  auto a = present::read_png((first / name).native());
  if (!a) return std::unexpected(std::move(a.error()));
  auto b = present::read_png((second / name).native());
  if (!b) return std::unexpected(std::move(b.error()));
  if (a->width != b->width || a->height != b->height) {
    return FrameDifference{flip, "their pictures are of different sizes, unlike their lists", {}};
  }
  const PixelDifference found = difference(*a, *b);
  if (found.pixels == 0) return FrameDifference{flip, "their hashes differ, their pictures do not", {}};
  std::error_code error;
  fs::create_directories(out, error);
  const fs::path picture = out / fmt::format("difference-{:06}.png", flip);
  ORRERY_TRY(present::write_png(picture.native(), found.picture));
  return FrameDifference{flip,
                         fmt::format("{} of {} pixels differ, by up to {}, within {},{} to {},{}", found.pixels,
                                     a->pixels.size(), found.largest, found.left, found.top, found.right, found.bottom),
                         picture.native()};
}

std::string flips_text(const std::vector<uint64_t>& flips) {
  constexpr size_t kMost = 20;
  const auto shown = std::span(flips).first(std::min(kMost, flips.size()));
  return fmt::format("{}{}", fmt::join(shown, ", "), flips.size() > kMost ? ", ..." : "");
}

}  // namespace

PixelDifference difference(const present::Image& a, const present::Image& b) {
  PixelDifference found;
  found.left = a.width;
  found.top = a.height;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    const auto by = channels(a.pixels[i], b.pixels[i]);
    const uint32_t most = std::ranges::max(by);
    if (most == 0) continue;
    ++found.pixels;
    found.largest = std::max(found.largest, most);
    const auto x = static_cast<uint32_t>(i % a.width), y = static_cast<uint32_t>(i / a.width);
    found.left = std::min(found.left, x);
    found.right = std::max(found.right, x);
    found.top = std::min(found.top, y);
    found.bottom = std::max(found.bottom, y);
  }
  if (found.pixels == 0) return found;
  found.picture = {a.width, a.height, std::vector<uint32_t>(a.pixels.size(), 0xff000000)};
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    const auto by = channels(a.pixels[i], b.pixels[i]);
    for (size_t c = 0; c < 3; ++c) found.picture.pixels[i] |= by[c] * 255 / found.largest << (8 * c);
  }
  return found;
}

Result<Comparison> compare_folders(const fs::path& first, const fs::path& second, const fs::path& out) {
  auto a = read_list(first);
  if (!a) return std::unexpected(std::move(a.error()));
  auto b = read_list(second);
  if (!b) return std::unexpected(std::move(b.error()));
  Comparison result;
  for (const auto& [flip, frame] : *b) {
    if (!a->contains(flip)) result.only_second.push_back(flip);
  }
  for (const auto& [flip, frame] : *a) {
    const auto other = b->find(flip);
    if (other == b->end()) {
      result.only_first.push_back(flip);
    } else if (frame == other->second) {
      ++result.same;
    } else if (frame.width != other->second.width || frame.height != other->second.height) {
      result.different.push_back(
          {flip,
           fmt::format("{}x{} against {}x{}", frame.width, frame.height, other->second.width, other->second.height),
           {}});
    } else {
      auto found = compare_pictures(flip, first, second, out);
      if (!found) return std::unexpected(std::move(found.error()));
      result.different.push_back(std::move(*found));
    }
  }
  return result;
}

std::string text_of(const Comparison& comparison) {
  std::string out;
  for (const FrameDifference& frame : comparison.different) {
    out += fmt::format("flip {}: {}{}\n", frame.flip, frame.text, frame.picture.empty() ? "" : "; " + frame.picture);
  }
  if (!comparison.only_first.empty()) out += fmt::format("only first: {}\n", flips_text(comparison.only_first));
  if (!comparison.only_second.empty()) out += fmt::format("only second: {}\n", flips_text(comparison.only_second));
  return out + fmt::format("{} flips are the same, {} differ, {} are in one folder only\n", comparison.same,
                           comparison.different.size(), comparison.only_first.size() + comparison.only_second.size());
}

std::string json_of(const Comparison& comparison) {
  std::string out = fmt::format("{{\"equal\":{},\"same\":{},\"different\":[", comparison.equal(), comparison.same);
  const char* comma = "";
  for (const FrameDifference& frame : comparison.different) {
    out += fmt::format("{}{{\"flip\":{},\"text\":\"{}\"}}", comma, frame.flip, frame.text);
    comma = ",";
  }
  return out + fmt::format("],\"only_first\":[{}],\"only_second\":[{}]}}\n", fmt::join(comparison.only_first, ","),
                           fmt::join(comparison.only_second, ","));
}

}  // namespace orrery::frame_report
