// CRC-32 (ISO 3309, as in PNG and zlib): any program can check and make a capture's records.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace orrery::capture {

class CheckSum {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) state_ = kTable[(state_ ^ static_cast<uint32_t>(byte)) & 0xff] ^ state_ >> 8;
  }
  uint32_t value() const { return ~state_; }

 private:
  static constexpr std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xedb8'8320u ^ value >> 1 : value >> 1;
      table[i] = value;
    }
    return table;
  }();
  uint32_t state_ = ~0u;
};

}  // namespace orrery::capture
