// The list beside kept frames, frames.txt: one line "FLIP WIDTHxHEIGHT HASH" for every flip shown, kept as PNG or not.
// The hash is of the pixels, so two lists tell whether two runs showed the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gpu-service/present/presenter.hpp"
#include "shared/content_hash.hpp"

namespace orrery::present {

inline constexpr std::string_view kFrameList = "frames.txt";

struct ListedFrame {
  uint32_t width = 0, height = 0;
  std::string hash;  // 32 hexadecimal digits
  friend bool operator==(const ListedFrame&, const ListedFrame&) = default;
};
using FrameListing = std::map<uint64_t, ListedFrame>;  // by flip

// "frame-000042.png"
std::string frame_name(uint64_t flip_index);
ListedFrame listed(const Image& image);
std::string line_of(uint64_t flip_index, const ListedFrame& frame);

// The lines of a list. A flip that is there twice, because a life of the service was repeated by the next, counts as
// the later line says; a last line without its end is left out. Error: names the first line that is none of ours.
Result<FrameListing> parse_frame_list(std::string_view text);

}  // namespace orrery::present
