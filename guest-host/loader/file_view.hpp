// Bounded reading of untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace orrery::loader {

class FileView {
 public:
  FileView() = default;
  explicit FileView(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size(); }

  // The bytes of [at, at + size), or none when they are not all there.
  std::span<const std::byte> bytes(uint64_t at, uint64_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return {};
    return bytes_.subspan(at, size);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::optional<T> get(uint64_t at) const {
    const auto from = bytes(at, sizeof(T));
    if (from.size() != sizeof(T)) return {};
    T value;
    std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  // A zero-terminated string that ends inside the bytes.
  std::optional<std::string_view> string(uint64_t at) const {
    if (at >= bytes_.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + at);
    const void* const end = std::memchr(begin, 0, bytes_.size() - at);
    if (end == nullptr) return {};
    return std::string_view(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace orrery::loader
