// A buffer resource descriptor (V#). Fields: AMD "RDNA 2" ISA document, chapter 8, buffer resource descriptor.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "shared/quantity.hpp"

namespace orrery::dispatch {

struct BufferDescriptor {
  GuestAddress base;           // 47:0
  uint32_t stride = 0;         // 61:48, bytes
  bool cache_swizzle = false;  // 62
  bool swizzle = false;        // 63
  uint32_t records = 0;        // 95:64, num_records
  uint32_t format = 0;         // 114:108
  uint32_t index_stride = 0;   // 118:117: 0 8, 1 16, 2 32, 3 64
  bool add_tid = false;        // 119
  uint32_t out_of_bounds = 0;  // 125:124, OOB_SELECT: 0 structured, 1 index only, 2 only empty buffers, 3 raw
  uint32_t type = 0;           // 127:126, 0 for buffers
};

BufferDescriptor decode_descriptor(const std::array<uint32_t, 4>& words);

// Bytes from the base that accesses inside the bounds can touch; nothing when the descriptor's bounds do not limit them
// (so that it can't be bound), with the reason. `scalar`: scalar instructions use it too.
struct BindableExtent {
  std::optional<uint64_t> bytes;
  const char* reason = "";
};
BindableExtent bindable_extent(const BufferDescriptor& descriptor, bool scalar = false);

}  // namespace orrery::dispatch
