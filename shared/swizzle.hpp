// The 64KB_R_X surface layout for 32 bits a pixel: 128x128 pixels in a block of 64 KiB, blocks row by row. Colour
// targets and tiled VideoOut buffers share it.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace orrery::swizzle {

inline constexpr uint32_t kBlockSide = 128, kBlockDwords = 0x4000;

// What each coordinate bit adds (by exclusive or) to the dword index inside the block. Source: guest-abi facts,
// section 5.4, solved from console captures.
inline constexpr std::array<uint32_t, 7> kX{0x1, 0x2, 0x20, 0x40, 0x880, 0x200, 0x2100};
inline constexpr std::array<uint32_t, 7> kY{0x4, 0x8, 0x10, 0x440, 0x80, 0x100, 0x1200};

constexpr std::array<uint16_t, kBlockSide> table_of(const std::array<uint32_t, 7>& bits) {
  std::array<uint16_t, kBlockSide> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    for (uint32_t bit = 0; bit < bits.size(); ++bit) {
      if ((i >> bit & 1) != 0) table[i] = static_cast<uint16_t>(table[i] ^ bits[bit]);
    }
  }
  return table;
}
inline constexpr auto kXTable = table_of(kX);
inline constexpr auto kYTable = table_of(kY);

constexpr uint32_t blocks_per_row(uint32_t width) { return (width + kBlockSide - 1) / kBlockSide; }

// Dwords of a surface, whole blocks.
constexpr uint64_t tiled_dwords(uint32_t width, uint32_t height) {
  return uint64_t{blocks_per_row(width)} * ((height + kBlockSide - 1) / kBlockSide) * kBlockDwords;
}

// A pixel's dword in a surface of this width (pixels).
constexpr uint64_t tiled_index(uint32_t x, uint32_t y, uint32_t width) {
  const uint64_t block = uint64_t{y / kBlockSide} * blocks_per_row(width) + x / kBlockSide;
  return block * kBlockDwords + (kXTable[x % kBlockSide] ^ kYTable[y % kBlockSide]);
}

// The other way: the pixel that lies at a dword. It may lie beyond the surface's edges, in its last blocks.
constexpr std::pair<uint32_t, uint32_t> pixel_at(uint64_t index, uint32_t width) {
  const auto block = static_cast<uint32_t>(index / kBlockDwords);
  const auto inside = static_cast<uint32_t>(index % kBlockDwords);
  const auto bit = [inside](uint32_t at) { return inside >> at & 1; };
  // Bits of x and y that some index bit is alone; the others follow from them.
  const uint32_t x4 = bit(11), x6 = bit(13), y3 = bit(10), y6 = bit(12);
  const uint32_t x = bit(0) | bit(1) << 1 | bit(5) << 2 | (bit(6) ^ y3) << 3 | x4 << 4 | (bit(9) ^ y6) << 5 | x6 << 6;
  const uint32_t y = bit(2) | bit(3) << 1 | bit(4) << 2 | y3 << 3 | (bit(7) ^ x4) << 4 | (bit(8) ^ x6) << 5 | y6 << 6;
  const uint32_t row = blocks_per_row(width);
  return {block % row * kBlockSide + x, block / row * kBlockSide + y};
}

// Bytes from one row of a linear surface to the next: whole 256-byte units (guest-abi facts, section 5).
constexpr uint32_t linear_pitch(uint32_t width) { return (width * 4 + 255) / 256 * 256; }

}  // namespace orrery::swizzle
