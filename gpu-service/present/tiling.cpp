// The 64KB_R_X surface layout, 32 bits a pixel: 128x128 pixels in a block of 64 KiB, blocks row by row.
#include <array>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {
namespace {

// What each coordinate bit adds (by exclusive or) to the dword index inside the block. Source: guest-abi facts,
// section 5.4, solved from console captures.
constexpr std::array<uint32_t, 7> kX{0x1, 0x2, 0x20, 0x40, 0x880, 0x200, 0x2100};
constexpr std::array<uint32_t, 7> kY{0x4, 0x8, 0x10, 0x440, 0x80, 0x100, 0x1200};

constexpr std::array<uint16_t, 128> table_of(const std::array<uint32_t, 7>& bits) {
  std::array<uint16_t, 128> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    for (uint32_t bit = 0; bit < bits.size(); ++bit) {
      if ((i >> bit & 1) != 0) table[i] = static_cast<uint16_t>(table[i] ^ bits[bit]);
    }
  }
  return table;
}
constexpr auto kXTable = table_of(kX);
constexpr auto kYTable = table_of(kY);

}  // namespace

uint64_t tiled_index(uint32_t x, uint32_t y, uint32_t width) {
  const uint64_t blocks_per_row = (uint64_t{width} + 127) / 128;
  const uint64_t block = (y >> 7) * blocks_per_row + (x >> 7);
  return block * 0x4000 + (kXTable[x & 127] ^ kYTable[y & 127]);
}

}  // namespace orrery::present
