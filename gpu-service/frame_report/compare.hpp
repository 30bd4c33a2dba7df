// Two runs' kept frames against each other.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gpu-service/present/frame_list.hpp"

namespace orrery::frame_report {

struct PixelDifference {
  uint64_t pixels = 0;                                // that differ
  uint32_t largest = 0;                               // difference of one channel
  uint32_t left = 0, top = 0, right = 0, bottom = 0;  // the rectangle that holds them all, right and bottom included
  present::Image picture;                             // |a - b|, the largest difference as 255
};
// Both of one size.
PixelDifference difference(const present::Image& a, const present::Image& b);

struct FrameDifference {
  uint64_t flip = 0;
  std::string text;     // "1920x1080 against 1280x720", "12 pixels differ, ..."
  std::string picture;  // file of the difference image; empty: none
};
struct Comparison {
  uint64_t same = 0;
  std::vector<FrameDifference> different;
  std::vector<uint64_t> only_first, only_second;  // flips
  bool equal() const { return different.empty() && only_first.empty() && only_second.empty(); }
};

// `out`: where difference images go; made when the first is written. Errors: a folder without a list, a damaged list,
// a picture that can't be read or written.
Result<Comparison> compare_folders(const std::filesystem::path& first, const std::filesystem::path& second,
                                   const std::filesystem::path& out);

std::string text_of(const Comparison& comparison);
std::string json_of(const Comparison& comparison);

}  // namespace orrery::frame_report
