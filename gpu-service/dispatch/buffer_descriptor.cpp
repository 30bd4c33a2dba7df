#include "gpu-service/dispatch/buffer_descriptor.hpp"

namespace orrery::dispatch {

BufferDescriptor decode_descriptor(const std::array<uint32_t, 4>& w) {
  BufferDescriptor d;
  d.base = {(static_cast<uint64_t>(w[1] & 0xffff) << 32) | w[0]};
  d.stride = w[1] >> 16 & 0x3fff;
  d.cache_swizzle = (w[1] >> 30 & 1) != 0;
  d.swizzle = (w[1] >> 31 & 1) != 0;
  d.records = w[2];
  d.format = w[3] >> 12 & 0x7f;
  d.index_stride = w[3] >> 21 & 3;
  d.add_tid = (w[3] >> 23 & 1) != 0;
  d.out_of_bounds = w[3] >> 28 & 3;
  d.type = w[3] >> 30;
  return d;
}

BindableExtent bindable_extent(const BufferDescriptor& d, bool scalar) {
  if (d.type != 0) return {std::nullopt, "its type is no buffer"};
  if (d.records == 0) return {0, ""};
  if (d.swizzle) return {std::nullopt, "it is swizzled"};
  if (d.add_tid) return {std::nullopt, "it adds the thread id"};
  switch (d.out_of_bounds) {
    case 0:  // index >= records or offset >= stride is out: records are structures (bytes when the stride is 0)
      return {d.stride == 0 ? d.records : static_cast<uint64_t>(d.records) * d.stride, ""};
    case 3:  // raw: the byte offset is compared with records
      if (scalar && d.stride != 0)
        return {std::nullopt, "scalar instructions count records of its stride, others bytes"};
      return {d.records, ""};
    default:
      return {std::nullopt, "its bounds check leaves the offset free"};
  }
}

}  // namespace orrery::dispatch
