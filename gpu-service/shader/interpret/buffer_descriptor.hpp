// V#: buffer descriptors and the address arithmetic of buffer instructions. RDNA 2 ISA document, "Buffer resource".
#pragma once

#include <cstdint>
#include <span>

namespace orrery::shader::interpret {

struct BufferDescriptor {
  uint64_t base = 0;    // 48 bits
  uint32_t stride = 0;  // bytes
  bool swizzled = false;
  uint32_t records = 0;       // structures, or bytes where stride is 0
  uint32_t select = 0;        // 4 times 3 bits: 0, 1, or component 4..7
  uint32_t format = 0;        // unified format
  uint32_t index_stride = 8;  // swizzle: 8, 16, 32, 64
  bool add_lane = false;
  uint32_t bounds = 0;  // OOB_SELECT: 0 index and offset, 1 index, 2 no records, 3 raw

  static BufferDescriptor read(std::span<const uint32_t> words);

  // Byte offset from base of the element `offset` bytes into structure `index`.
  uint64_t place(uint64_t index, uint64_t offset) const;
  // Whether the `bytes` bytes at `offset` of structure `index` are in range; `scalar` is the scalar offset.
  bool in_range(uint64_t index, uint64_t offset, uint64_t bytes, uint64_t scalar) const;
};

}  // namespace orrery::shader::interpret
