#include "tests/gpu-service/shader/interpret/host_bytes.hpp"

#include <cstring>

namespace orrery::shader::testing {

void HostBytes::add(const void* start, size_t size) {
  ranges_.emplace_back(static_cast<std::byte*>(const_cast<void*>(start)), size);
}

std::byte* HostBytes::find(uint64_t address, size_t size) const {
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const size_t at = (last_ + i) % ranges_.size();
    const uint64_t offset = address - reinterpret_cast<uint64_t>(ranges_[at].data());
    if (offset < ranges_[at].size() && size <= ranges_[at].size() - offset) {
      last_ = at;
      return ranges_[at].data() + offset;
    }
  }
  return nullptr;
}

bool HostBytes::read(uint64_t address, std::span<std::byte> out) {
  const std::byte* from = find(address, out.size());
  if (from == nullptr) {
    return false;
  }
  std::memcpy(out.data(), from, out.size());
  return true;
}

bool HostBytes::write(uint64_t address, std::span<const std::byte> bytes) {
  std::byte* to = find(address, bytes.size());
  if (to == nullptr) {
    return false;
  }
  std::memcpy(to, bytes.data(), bytes.size());
  return true;
}

}  // namespace orrery::shader::testing
