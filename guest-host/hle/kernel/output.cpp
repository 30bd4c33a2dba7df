#include "guest-host/hle/kernel/output.hpp"

#include <unistd.h>
#include <cerrno>

namespace orrery::hle::kernel {

bool write_out(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace orrery::hle::kernel
