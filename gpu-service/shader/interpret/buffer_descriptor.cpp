#include "gpu-service/shader/interpret/buffer_descriptor.hpp"

namespace orrery::shader::interpret {

BufferDescriptor BufferDescriptor::read(std::span<const uint32_t> words) {
  BufferDescriptor buffer;
  buffer.base = words[0] | uint64_t{words[1] & 0xffff} << 32;
  buffer.stride = words[1] >> 16 & 0x3fff;
  buffer.swizzled = (words[1] >> 31) != 0;
  buffer.records = words[2];
  buffer.select = words[3] & 0xfff;
  buffer.format = words[3] >> 12 & 0x7f;
  buffer.index_stride = 8u << (words[3] >> 21 & 3);
  buffer.add_lane = (words[3] >> 23 & 1) != 0;
  buffer.bounds = words[3] >> 28 & 3;
  if (buffer.add_lane) {
    buffer.stride |= (words[3] >> 12 & 15) << 14;  // the format field extends the stride
  }
  return buffer;
}

uint64_t BufferDescriptor::place(uint64_t index, uint64_t offset) const {
  if (!swizzled) {
    return index * stride + offset;
  }
  constexpr uint64_t kElement = 4;  // gfx10 swizzles dwords
  const uint64_t group = index / index_stride, member = index % index_stride;
  return (group * stride + offset / kElement * kElement) * index_stride + member * kElement + offset % kElement;
}

bool BufferDescriptor::in_range(uint64_t index, uint64_t offset, uint64_t bytes, uint64_t scalar) const {
  const uint64_t last = bytes - 1;
  if (bounds == 3 || (bounds == 0 && stride == 0)) {
    return place(index, offset) + scalar + last < records;
  }
  switch (bounds) {
    case 0:
      return index < records && offset + last < stride;
    case 1:
      return index < records;
    default:
      return records != 0;
  }
}

}  // namespace orrery::shader::interpret
