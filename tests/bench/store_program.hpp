// A program whose store descriptor lies in a table, and the packets that dispatch it.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery::bench {

// s_load_dwordx4 s[12:15], s[0:1], 0; v_lshlrev_b32 v1, 2, v0; s_waitcnt lgkmcnt(0);
// buffer_store_dword v0, v1, s[12:15], 0 offen; s_endpgm (llvm-mc-19, gfx1013, wave32)
inline constexpr uint32_t kStoreProgram[] = {0xf4080300, 0xfa000000, 0x34020082, 0xbf8cc07f,
                                             0xe0701000, 0x80030001, 0xbf810000};

// One group of 32 lanes; the table at `table` is read. `number` tells dispatches apart.
inline std::vector<uint32_t> dispatch_of(uint64_t program, uint64_t table, uint32_t number) {
  const auto set = [](uint32_t first, std::vector<uint32_t> values) {
    std::vector<uint32_t> packet{3u << 30 | static_cast<uint32_t>(values.size()) << 16 | 0x76u << 8, first};
    packet.insert(packet.end(), values.begin(), values.end());
    return packet;
  };
  std::vector<uint32_t> dwords;
  for (const auto& packet :
       {set(0x20c, {static_cast<uint32_t>(program >> 8), static_cast<uint32_t>(program >> 40)}),
        set(0x212, {0xf0 << 12, 8u << 1}), set(0x204, {0, 0, 0}), set(0x207, {32, 1, 1}),
        set(0x240, {static_cast<uint32_t>(table), static_cast<uint32_t>(table >> 32), number, 0})}) {
    dwords.insert(dwords.end(), packet.begin(), packet.end());
  }
  for (const uint32_t word : {0xc0031500u, 1u, 1u, 1u, 0x8005u}) dwords.push_back(word);
  return dwords;
}

}  // namespace orrery::bench
