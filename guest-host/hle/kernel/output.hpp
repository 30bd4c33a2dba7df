// The title's standard output and error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery::hle::kernel {

// Writes all of it; answers false when the host refuses.
bool write_out(int file, std::span<const std::byte> bytes);

}  // namespace orrery::hle::kernel
