// SHA-1, for symbol identifiers only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery::hle {

std::array<uint8_t, 20> sha1(std::string_view bytes);

}  // namespace orrery::hle
