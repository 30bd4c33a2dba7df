// From a descriptor to a bound range of a device buffer. Whatever can't be bound is reached through the device page
// table.
#include <fmt/format.h>

#include "gpu-service/dispatch/buffer_descriptor.hpp"
#include "gpu-service/dispatch/descriptor_source.hpp"
#include "gpu-service/dispatch/executor_state.hpp"
#include "gpu-service/vulkan/device.hpp"

namespace orrery::dispatch {

std::expected<Binding, std::string> DispatchExecutor::State::bind(const shader::BoundBuffer& buffer,
                                                                  const DispatchState& dispatch) {
  const auto words = read_descriptor(buffer.source, dispatch.user_data,
                                     [&](GuestAddress at, std::span<std::byte> out) { return settled_read(at, out); });
  if (!words) return std::unexpected(words.error());
  const BufferDescriptor descriptor = decode_descriptor(*words);
  const BindableExtent extent = bindable_extent(descriptor);
  if (!extent.bytes) return std::unexpected(std::string(extent.reason));
  if (*extent.bytes == 0) return Binding{empty.handle(), 0, empty.size().value, {0, 0}, {}};
  if (*extent.bytes > device.facts().max_storage_range) {
    return std::unexpected(fmt::format("{} bytes are more than one binding shows", *extent.bytes));
  }
  const auto pieces = memory.pieces(descriptor.base, {*extent.bytes});
  if (!pieces) return std::unexpected(std::string("not all of it is mapped"));
  if (pieces->size() != 1) return std::unexpected(std::string("it is not contiguous in memory"));
  const uint64_t begin = pieces->front().offset.value;
  const auto slice = arena.find({begin});
  if (!slice || slice->available < *extent.bytes) return std::unexpected(std::string("it crosses device buffers"));
  Binding binding;
  binding.buffer = slice->buffer;
  binding.offset = align_down(slice->offset, device.facts().storage_alignment);
  const uint64_t delta = slice->offset - binding.offset;
  // Whole dwords: the last one may hold bytes behind the descriptor's end, which the program's own check keeps out.
  binding.range = align_up(delta + *extent.bytes, 4);
  if (binding.range > device.facts().max_storage_range || align_up(*extent.bytes, 4) > slice->available) {
    return std::unexpected(fmt::format("{} bytes are more than one binding shows", binding.range));
  }
  binding.info = {static_cast<uint32_t>(delta), static_cast<uint32_t>(*extent.bytes)};
  binding.arena = {begin, begin + *extent.bytes};
  return binding;
}

}  // namespace orrery::dispatch
