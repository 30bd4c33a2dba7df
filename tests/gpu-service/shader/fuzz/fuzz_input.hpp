// A fuzzer's bytes as a program and the options it is translated with: kHeaderBytes of choices, then the code's dwords.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::fuzz {

inline constexpr size_t kHeaderBytes = 8;

struct FuzzInput {
  Target target = Target::gfx1013;
  TranslateOptions options;
  std::vector<uint32_t> words;
};

inline std::optional<FuzzInput> parse_input(std::span<const uint8_t> bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  FuzzInput in;
  TranslateOptions& o = in.options;
  constexpr uint32_t kSubgroups[] = {32, 8, 16, 64, 1, 4, 2, 32};
  const uint32_t wave = bytes[0] & 1 ? 64 : 32;
  o.layout = subgroup_layout(wave, std::min(kSubgroups[bytes[0] >> 1 & 7], wave));
  if (o.layout.whole_wave()) o.layout = whole_wave_layout(wave);
  if (bytes[7] % 4 == 1) o.layout = workgroup_layout(wave);
  if (bytes[7] % 4 == 2) o.layout = separate_layout(wave);
  in.target = bytes[0] & 16 ? Target::gfx1030 : Target::gfx1013;
  o.bind_buffers = !(bytes[0] & 32);
  o.partial_groups = bytes[0] & 64;
  o.host.fuses_fma = bytes[0] & 128;
  constexpr std::array<uint32_t, 3> kGroups[] = {{64, 1, 1}, {32, 1, 1},  {8, 8, 1},   {1, 1, 1},
                                                 {48, 3, 2}, {256, 1, 1}, {16, 16, 4}, {1000, 1, 1}};
  o.group_size = kGroups[bytes[1] & 7];
  o.host.lockstep_subgroups = bytes[1] & 8;
  o.host.loop_limit = bytes[1] & 16 ? 65535 : 0;
  o.host.float16 = !(bytes[1] & 32);
  o.host.float64 = !(bytes[1] & 64);
  o.host.buffer_int64_atomics = o.host.shared_int64_atomics = !(bytes[1] & 128);
  o.scratch_dwords = bytes[2] & 63;
  const uint32_t user = std::min(bytes[3] & 31u, 16u);
  o.rsrc2 = (bytes[2] >> 6 & 1) | user << 1 | (bytes[3] >> 5 & 7u) << 7 | (bytes[4] & 7u) << 10 |
            (bytes[4] >> 3 & 31u) * 4 << 15;
  o.rsrc1 = static_cast<uint32_t>(bytes[5]) << 12 | (bytes[6] & 1u) << 21 | (bytes[6] >> 1 & 1u) << 23;
  in.words.resize((bytes.size() - kHeaderBytes) / 4);
  if (!in.words.empty()) std::memcpy(in.words.data(), bytes.data() + kHeaderBytes, in.words.size() * 4);
  return in;
}

}  // namespace orrery::shader::fuzz
