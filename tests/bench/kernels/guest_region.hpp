// The memory of one launch on the host: the case's block, the kernel's image, arguments and private memory, at an
// address that the guest's GPU can have, so that pointers in it mean the same to everybody.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "gpu-service/dispatch/executor.hpp"
#include "shared/error.hpp"
#include "tests/bench/kernels/kernel_case.hpp"

namespace orrery::bench {

class GuestRegion {
 public:
  static constexpr uint64_t kAddress = 0x40'0000'0000;
  static Result<std::unique_ptr<GuestRegion>> map(uint64_t size);
  ~GuestRegion();
  GuestRegion(const GuestRegion&) = delete;
  GuestRegion& operator=(const GuestRegion&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  unsigned char* at(uint64_t offset) const { return reinterpret_cast<unsigned char*>(bytes_.data()) + offset; }

 private:
  explicit GuestRegion(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

// What lies behind the block, and the size of it all.
struct RegionPlan {
  uint64_t arguments = 0, image = 0, scratch = 0, size = 0;
};
RegionPlan plan_region(const PreparedCase& prepared, const dispatch::CorpusKernel& kernel);

// Writes image, arguments and dispatch packet behind the block, and answers the launch in registers, as the title's
// packets have it.
Result<dispatch::DispatchState> write_launch(const GuestRegion& region, const RegionPlan& plan,
                                             const PreparedCase& prepared, const dispatch::CorpusKernel& kernel);

}  // namespace orrery::bench
