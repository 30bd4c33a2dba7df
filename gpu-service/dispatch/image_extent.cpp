#include "gpu-service/dispatch/image_extent.hpp"

#include <algorithm>

#include "gpu-service/shader/interpret/image_descriptor.hpp"

namespace orrery::dispatch {

std::optional<memory::GuestSpan> image_extent(const std::array<uint32_t, 8>& words) {
  using Type = shader::interpret::ImageDescriptor::Type;
  const auto image = shader::interpret::ImageDescriptor::read(words);
  if (image.refusal() != shader::ImageRefusal::none) return std::nullopt;
  if (image.tiling != 0) {  // 64KB_R_X: blocks of 128 x 128 pixels
    const uint64_t blocks = uint64_t{(image.width + 127) / 128} * ((image.height + 127) / 128);
    return memory::GuestSpan{{image.base}, {blocks << 16}};
  }
  uint64_t slices = uint64_t{image.first_layer} + 1;
  if (image.is(Type::d3) || image.is_array()) slices = std::max<uint64_t>(slices, uint64_t{image.depth_field} + 1);
  const uint64_t slice_bytes = image.address(0, 0, 0, 1) - image.address(0, 0, 0, 0);
  return memory::GuestSpan{{image.base}, {slices * slice_bytes}};
}

}  // namespace orrery::dispatch
