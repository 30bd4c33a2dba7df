// Memory of a test: ranges of the test's own memory at their own addresses.
#pragma once

#include <vector>

#include "gpu-service/shader/interpret/interpreter.hpp"

namespace orrery::shader::testing {

class HostBytes : public interpret::GuestBytes {
 public:
  void add(const void* start, size_t size);
  bool read(uint64_t address, std::span<std::byte> out) override;
  bool write(uint64_t address, std::span<const std::byte> bytes) override;

 private:
  std::byte* find(uint64_t address, size_t size) const;
  std::vector<std::span<std::byte>> ranges_;
  mutable size_t last_ = 0;
};

}  // namespace orrery::shader::testing
