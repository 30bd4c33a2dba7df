#include "gpu-service/present/frame_list.hpp"

#include <charconv>

namespace orrery::present {
namespace {

// Takes a decimal number from the front of `text` and the character behind it.
template <class T>
bool take(std::string_view& text, char behind, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() + text.size() || *end != behind) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::string frame_name(uint64_t flip_index) { return fmt::format("frame-{:06}.png", flip_index); }

ListedFrame listed(const Image& image) {
  return {image.width, image.height, hash_bytes(std::as_bytes(std::span(image.pixels))).hex()};
}

std::string line_of(uint64_t flip_index, const ListedFrame& frame) {
  return fmt::format("{:06} {}x{} {}\n", flip_index, frame.width, frame.height, frame.hash);
}

Result<FrameListing> parse_frame_list(std::string_view text) {
  FrameListing frames;
  size_t number = 0;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    ++number;
    std::string_view line = text.substr(0, end);
    uint64_t flip = 0;
    ListedFrame frame;
    if (!take(line, ' ', flip) || !take(line, 'x', frame.width) || !take(line, ' ', frame.height) ||
        line.size() != 32 || line.find_first_not_of("0123456789abcdef") != line.npos) {
      return fail(ExitCode::file_malformed, "line {} is no 'FLIP WIDTHxHEIGHT HASH'", number);
    }
    frame.hash = line;
    frames[flip] = std::move(frame);
  }
  return frames;
}

}  // namespace orrery::present
