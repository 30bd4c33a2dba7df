// Reading plain structures out of a file's bytes, never beyond them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery::lane_report {

using Bytes = std::span<const std::byte>;

template <class T>
std::optional<T> get(Bytes bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

inline Bytes part(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

// A name in the file: printable, short, ended by a zero. Nothing when it is not.
inline std::optional<std::string> name_at(Bytes bytes, uint64_t offset) {
  std::string name;
  for (uint64_t at = offset; at < bytes.size() && name.size() < 256; ++at) {
    const auto c = static_cast<unsigned char>(bytes[at]);
    if (c == 0) return name.empty() ? std::nullopt : std::optional(name);
    if (c < 0x20 || c > 0x7e) return std::nullopt;
    name.push_back(static_cast<char>(c));
  }
  return std::nullopt;
}

inline std::vector<uint32_t> words_of(Bytes bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

}  // namespace orrery::lane_report
