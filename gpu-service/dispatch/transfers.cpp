// Fills and copies of guest memory. On the device where the ranges allow it; else by the CPU after everything recorded.
#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "gpu-service/dispatch/executor_state.hpp"

namespace orrery::dispatch {
namespace {

Refusal unmapped(const char* what, GuestAddress address, Bytes size) {
  return {"address", fmt::format("{} {:#x}, {} bytes: not all of it is mapped", what, address.value, size.value)};
}

// A DMA_DATA packet can't ask for more than 64 MiB; host memory is taken for as much.
constexpr uint64_t kMostBytes = 1ull << 30;
// Pairs of ranges that are compared before the CPU does it.
constexpr uint64_t kMostPairs = 1 << 16;

Refusal too_large(Bytes size) {
  return {"address", fmt::format("a fill or copy of {} bytes; at most {} at once", size.value, kMostBytes)};
}

struct Part {
  ArenaSlice slice;
  uint64_t size = 0;
  ArenaRange arena;
};

// The pieces cut where device buffers end; nothing when a byte has no device buffer.
std::optional<std::vector<Part>> parts_of(const ArenaBuffers& arena, const std::vector<memory::Piece>& pieces) {
  std::vector<Part> parts;
  for (const auto& piece : pieces) {
    for (uint64_t done = 0; done < piece.size.value;) {
      const uint64_t at = piece.offset.value + done;
      const auto slice = arena.find({at});
      if (!slice) return std::nullopt;
      const uint64_t size = std::min(slice->available, piece.size.value - done);
      parts.push_back({*slice, size, {at, at + size}});
      done += size;
    }
  }
  return parts;
}

// Pairs of destination and source ranges of equal size.
std::vector<std::pair<Part, Part>> pair_up(const std::vector<Part>& to, const std::vector<Part>& from) {
  std::vector<std::pair<Part, Part>> pairs;
  size_t t = 0, f = 0;
  uint64_t t_done = 0, f_done = 0;
  while (t < to.size() && f < from.size()) {
    const uint64_t size = std::min(to[t].size - t_done, from[f].size - f_done);
    const auto cut = [size](const Part& part, uint64_t done) {
      Part out = part;
      out.slice.offset += done;
      out.arena = {part.arena.begin + done, part.arena.begin + done + size};
      out.size = size;
      return out;
    };
    pairs.emplace_back(cut(to[t], t_done), cut(from[f], f_done));
    t_done += size;
    f_done += size;
    if (t_done == to[t].size) {
      ++t;
      t_done = 0;
    }
    if (f_done == from[f].size) {
      ++f;
      f_done = 0;
    }
  }
  return pairs;
}

bool overlap(const ArenaRange& a, const ArenaRange& b) { return a.begin < b.end && b.begin < a.end; }

// The pattern repeats from the first byte of the destination.
std::vector<std::byte> filled(uint64_t size, uint32_t value) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(value >> (i % 4 * 8));
  return bytes;
}

std::vector<ArenaRange> ranges_of(const std::vector<memory::Piece>& pieces) {
  std::vector<ArenaRange> ranges;
  for (const auto& piece : pieces) ranges.push_back({piece.offset.value, piece.offset.value + piece.size.value});
  return ranges;
}

}  // namespace

std::vector<Refusal> DispatchExecutor::State::fill(GuestAddress destination, Bytes size, uint32_t value) {
  if (lost) return {lost_refusal()};
  if (size.value == 0) return {};
  if (size.value > kMostBytes) return {too_large(size)};
  const auto pieces = memory.pieces(destination, size);
  if (!pieces) return {unmapped("fill of", destination, size)};
  if (auto admitted = admit({{}, ranges_of(*pieces)}); !admitted) return {lose(std::move(admitted.error()))};
  const auto parts = parts_of(arena, *pieces);
  const bool aligned = parts && std::all_of(parts->begin(), parts->end(), [](const Part& part) {
                         return part.slice.offset % 4 == 0 && part.size % 4 == 0;
                       });
  if (!aligned) {
    ++counters.host_transfers;
    if (auto waited = wait_all(); !waited) return {lose(std::move(waited.error()))};
    if (auto stored = memory.write(destination, filled(size.value, value)); !stored) {
      return {{"address", stored.error().describe()}};
    }
    return {};
  }
  std::vector<ArenaRange> ranges;
  for (const Part& part : *parts) ranges.push_back(part.arena);
  if (auto wanted = want(ranges); !wanted) return {lose(std::move(wanted.error()))};
  auto commands = batches.step();
  if (!commands) return {lose(std::move(commands.error()))};
  for (const Part& part : *parts) {
    vkCmdFillBuffer(*commands, part.slice.buffer, part.slice.offset, part.size, value);
    pending.add(part.arena);
  }
  ++counters.fills;
  return {};
}

std::vector<Refusal> DispatchExecutor::State::copy(GuestAddress destination, GuestAddress source, Bytes size) {
  if (lost) return {lost_refusal()};
  if (size.value == 0) return {};
  if (size.value > kMostBytes) return {too_large(size)};
  const auto to = memory.pieces(destination, size);
  if (!to) return {unmapped("copy to", destination, size)};
  const auto from = memory.pieces(source, size);
  if (!from) return {unmapped("copy from", source, size)};
  if (auto admitted = admit({ranges_of(*from), ranges_of(*to)}); !admitted) {
    return {lose(std::move(admitted.error()))};
  }
  const auto to_parts = parts_of(arena, *to), from_parts = parts_of(arena, *from);
  bool on_device = to_parts && from_parts && to_parts->size() * from_parts->size() <= kMostPairs;
  if (on_device) {
    for (const Part& a : *to_parts) {
      for (const Part& b : *from_parts) on_device = on_device && !overlap(a.arena, b.arena);
    }
  }
  if (!on_device) {
    // Source and destination may share bytes: as if through a copy.
    ++counters.host_transfers;
    if (auto waited = wait_all(); !waited) return {lose(std::move(waited.error()))};
    std::vector<std::byte> bytes(size.value);
    auto read = memory.read(source, bytes);
    if (read) read = memory.write(destination, bytes);
    if (!read) return {{"address", read.error().describe()}};
    return {};
  }
  std::vector<ArenaRange> ranges;
  for (const auto* parts : {&*to_parts, &*from_parts}) {
    for (const Part& part : *parts) ranges.push_back(part.arena);
  }
  if (auto wanted = want(ranges); !wanted) return {lose(std::move(wanted.error()))};
  auto commands = batches.step();
  if (!commands) return {lose(std::move(commands.error()))};
  for (const auto& [a, b] : pair_up(*to_parts, *from_parts)) {
    const VkBufferCopy region{b.slice.offset, a.slice.offset, a.size};
    vkCmdCopyBuffer(*commands, b.slice.buffer, a.slice.buffer, 1, &region);
    pending.add(a.arena);
  }
  ++counters.copies;
  return {};
}

}  // namespace orrery::dispatch
