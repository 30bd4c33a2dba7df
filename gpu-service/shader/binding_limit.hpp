// How much one storage buffer binding may show: part of the module's interface (translate.hpp).
#pragma once

#include <cstdint>

namespace orrery::shader {

// Bytes from the V#'s base on. The 32-bit address arithmetic of bound accesses counts on it.
inline constexpr uint32_t kMostBoundBytes = 1u << 30;

}  // namespace orrery::shader
