#include "gpu-service/dispatch/arena_buffers.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "gpu-service/vulkan/device.hpp"
#include "shared/log.hpp"

namespace orrery::dispatch {
namespace {

// Writes the bytes of `now` that differ from `before` into `out`, and no others: the CPU may write its own meanwhile.
void write_changed(std::span<const std::byte> now, std::span<const std::byte> before, std::byte* out) {
  constexpr size_t kBlock = 256;
  for (size_t at = 0; at < now.size(); at += kBlock) {
    const size_t size = std::min(kBlock, now.size() - at);
    if (std::memcmp(now.data() + at, before.data() + at, size) == 0) continue;
    for (size_t i = at; i < at + size; ++i) {
      if (now[i] != before[i]) out[i] = now[i];
    }
  }
}

}  // namespace

ArenaBuffers::ArenaBuffers(const vulkan::Device& device, std::span<std::byte> arena, bool import)
    : device_(device), arena_(arena), import_(import && device.facts().import_alignment != 0) {
  if (!import_) {
    log::warn("guest memory is mirrored on the device and copied both ways ({})",
              import ? "the device can't import host memory" : "import is switched off");
  }
}

PlanLimits ArenaBuffers::limits() const {
  const auto& facts = device_.facts();
  PlanLimits limits;
  const uint64_t alignment = std::max<uint64_t>(facts.import_alignment, 4096);
  limits.granule = std::max(limits.granule, alignment);
  limits.arena_size = align_down(arena_.size(), alignment);
  while (limits.largest > facts.max_buffer && limits.largest > limits.granule) limits.largest /= 2;
  // Leave allocations for everything else.
  limits.most_pieces = std::max<size_t>(std::min<size_t>(limits.most_pieces, facts.max_allocations / 4), 16);
  return limits;
}

Result<ArenaBuffers::Piece> ArenaBuffers::make_piece(const ArenaRange& range) {
  const auto host = arena_.subspan(range.begin, range.size());
  const auto name = fmt::format("arena {:#x}..{:#x}", range.begin, range.end);
  if (import_) {
    auto buffer = vulkan::Buffer::import_host(device_, host, name);
    if (!buffer) return forward(std::move(buffer), "importing " + name);
    return Piece{range, std::move(*buffer), {}};
  }
  auto buffer = vulkan::Buffer::create(device_, {range.size()}, vulkan::BufferPlace::shared, name);
  if (!buffer) return forward(std::move(buffer), "mirroring " + name);
  return Piece{range, std::move(*buffer), std::vector<std::byte>(range.size())};
}

Result<void> ArenaBuffers::update(std::span<const protocol::MapEntry> entries) {
  mapped_ = mapped_ranges(entries);
  const PlanLimits plan = limits();
  for (auto& range : mapped_) range.end = std::min(range.end, plan.arena_size);
  std::erase_if(mapped_, [](const ArenaRange& r) { return r.begin >= r.end; });
  const auto wanted = cover(mapped_, plan);
  std::vector<ArenaRange> present;
  for (const auto& piece : pieces_) present.push_back(piece.range);
  const PieceChange change = change_pieces(present, wanted, plan);
  for (auto index = change.drop.rbegin(); index != change.drop.rend(); ++index) {
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(*index));
  }
  for (const ArenaRange& range : change.make) {
    auto piece = make_piece(range);
    if (!piece && import_) {
      log::warn("{}; guest memory is mirrored on the device and copied both ways instead", piece.error().describe());
      import_ = false;
      pieces_.clear();
      return update(entries);
    }
    if (!piece) return std::unexpected(std::move(piece.error()));
    pieces_.push_back(std::move(*piece));
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.range.begin < b.range.begin; });
  return {};
}

std::optional<ArenaSlice> ArenaBuffers::find(ArenaOffset offset) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), offset.value,
                                      [](uint64_t at, const Piece& piece) { return at < piece.range.begin; });
  if (after == pieces_.begin()) return std::nullopt;
  const Piece& piece = *std::prev(after);
  if (offset.value >= piece.range.end) return std::nullopt;
  const uint64_t inside = offset.value - piece.range.begin;
  return ArenaSlice{piece.buffer.handle(), inside, piece.buffer.address() + Bytes{inside},
                    piece.range.end - offset.value};
}

void ArenaBuffers::upload() {
  if (import_) return;
  for (Piece& piece : pieces_) {
    for (const ArenaRange& range : mapped_) {
      const uint64_t begin = std::max(range.begin, piece.range.begin), end = std::min(range.end, piece.range.end);
      if (begin >= end) continue;
      const uint64_t inside = begin - piece.range.begin;
      // Through the twin, so that both hold the same bytes even while the CPU writes.
      std::memcpy(piece.twin.data() + inside, arena_.data() + begin, end - begin);
      std::memcpy(piece.buffer.mapped().data() + inside, piece.twin.data() + inside, end - begin);
    }
  }
}

void ArenaBuffers::write_back() {
  if (import_) return;
  for (Piece& piece : pieces_) {
    for (const ArenaRange& range : mapped_) {
      const uint64_t begin = std::max(range.begin, piece.range.begin), end = std::min(range.end, piece.range.end);
      if (begin >= end) continue;
      const uint64_t inside = begin - piece.range.begin;
      write_changed(piece.buffer.mapped().subspan(inside, end - begin),
                    std::span<const std::byte>(piece.twin).subspan(inside, end - begin), arena_.data() + begin);
    }
  }
}

}  // namespace orrery::dispatch
