#include "gpu-service/dispatch/arena_buffers.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/vulkan/device.hpp"
#include "shared/log.hpp"

namespace orrery::dispatch {
namespace {

// The piece that holds the byte, or null.
template <class Piece>
Piece* piece_at(std::span<Piece> sorted, uint64_t offset) {
  const auto after = std::upper_bound(sorted.begin(), sorted.end(), offset,
                                      [](uint64_t at, const Piece& piece) { return at < piece.range.begin; });
  if (after == sorted.begin()) return nullptr;
  Piece& piece = *std::prev(after);
  return offset < piece.range.end ? &piece : nullptr;
}

template <class Piece>
ArenaSlice slice_of(const Piece& piece, uint64_t offset, uint64_t end) {
  const uint64_t inside = offset - piece.range.begin;
  return {piece.buffer.handle(), inside, piece.buffer.address() + Bytes{inside},
          std::min(piece.range.end, end) - offset};
}

// Drops and makes pieces until they cover `wanted`. `make` answers the new piece.
template <class Piece, class Make>
Result<void> change_to(std::vector<Piece>& pieces, std::span<const ArenaRange> wanted, const PlanLimits& plan,
                       Make&& make) {
  std::vector<ArenaRange> present;
  for (const auto& piece : pieces) present.push_back(piece.range);
  const PieceChange change = change_pieces(present, wanted, plan);
  for (auto index = change.drop.rbegin(); index != change.drop.rend(); ++index) {
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(*index));
  }
  Result<void> done;
  for (const ArenaRange& range : change.make) {
    auto piece = make(range);
    if (!piece) {
      done = std::unexpected(std::move(piece.error()));
      break;
    }
    pieces.push_back(std::move(*piece));
  }
  std::ranges::sort(pieces, {}, [](const Piece& piece) { return piece.range.begin; });
  return done;
}

}  // namespace

ArenaBuffers::ArenaBuffers(const vulkan::Device& device, std::span<std::byte> arena, bool import, bool mirror)
    : device_(device), arena_(arena), import_(import && device.facts().import_alignment != 0), mirror_(mirror) {
  if (import_) return;
  mirror_ = true;
  log::warn("guest memory is mirrored on the device and copied by the CPU ({})",
            import ? "the device can't import host memory" : "import is switched off");
}

PlanLimits ArenaBuffers::limits() const {
  const auto& facts = device_.facts();
  PlanLimits limits;
  const uint64_t alignment = std::max<uint64_t>(facts.import_alignment, 4096);
  limits.granule = std::max(limits.granule, alignment);
  limits.arena_size = align_down(arena_.size(), alignment);
  while (limits.largest > facts.max_buffer && limits.largest > limits.granule) limits.largest /= 2;
  // Leave allocations for everything else.
  limits.most_pieces = std::max<size_t>(std::min<size_t>(limits.most_pieces, facts.max_allocations / 8), 16);
  return limits;
}

std::vector<ArenaRange> ArenaBuffers::cut(std::vector<ArenaRange> ranges) const {
  const uint64_t end = limits().arena_size;
  for (auto& range : ranges) range.end = std::min(range.end, end);
  std::erase_if(ranges, [](const ArenaRange& r) { return r.begin >= r.end; });
  return ranges;
}

Result<void> ArenaBuffers::update_imports(std::span<const protocol::MapEntry> entries) {
  const PlanLimits plan = limits();
  return change_to(
      imports_, cover(cut(mapped_ranges(entries)), plan), plan, [&](const ArenaRange& range) -> Result<ImportPiece> {
        const auto name = fmt::format("arena {:#x}..{:#x}", range.begin, range.end);
        auto buffer = vulkan::Buffer::import_host(device_, arena_.subspan(range.begin, range.size()), name);
        if (!buffer) return forward(std::move(buffer), "importing " + name);
        return ImportPiece{range, std::move(*buffer)};
      });
}

Result<MirrorPiece> ArenaBuffers::make_mirror(const ArenaRange& range) const {
  MirrorPiece piece{range, {}, {}};
  const auto make = [&](vulkan::Buffer& buffer, const char* kind) -> Result<void> {
    const auto name = fmt::format("{} {:#x}..{:#x}", kind, range.begin, range.end);
    auto made = vulkan::Buffer::create(device_, {range.size()}, vulkan::BufferPlace::device, name);
    if (!made) return forward(std::move(made), "making " + name);
    buffer = std::move(*made);
    return {};
  };
  ORRERY_TRY(make(piece.buffer, "mirror"));
  ORRERY_TRY(make(piece.twin, "twin"));
  return piece;
}

Result<std::vector<ArenaRange>> ArenaBuffers::update_mirrors(std::span<const protocol::MapEntry> entries) {
  // Where everything can be imported too, memory that is the CPU's is not worth copies.
  mirrored_ = cut(import_ ? device_ranges(entries) : mapped_ranges(entries));
  if (!mirror_) {
    std::vector<ArenaRange> both;
    for (const ArenaRange& range : cut(mapped_ranges(entries))) {
      for_each_common(moved_, range, [&](ArenaRange common) { both.push_back(common); });
    }
    mirrored_ = std::move(both);
  }
  const PlanLimits plan = limits();
  std::vector<ArenaRange> fresh;
  auto changed = change_to(mirrors_, cover(mirrored_, plan), plan, [&](const ArenaRange& range) -> Result<MirrorPiece> {
    fresh.push_back(range);
    return make_mirror(range);
  });
  if (!changed && !import_) return std::unexpected(std::move(changed.error()));
  incomplete_ = !changed;
  if (!changed) {
    // What has no mirror is worked on in place.
    log::warn("not all of the guest's memory fits on the device, the rest stays imported: {}",
              changed.error().describe());
    std::vector<ArenaRange> covered;
    for (const MirrorPiece& piece : mirrors_) {
      for (const ArenaRange& range : mirrored_) {
        const ArenaRange both{std::max(range.begin, piece.range.begin), std::min(range.end, piece.range.end)};
        if (both.begin < both.end) covered.push_back(both);
      }
    }
    memory::merge_ranges(covered);
    mirrored_ = std::move(covered);
  }
  return fresh;
}

Result<std::vector<ArenaRange>> ArenaBuffers::update(std::span<const protocol::MapEntry> entries) {
  if (import_) {
    if (auto imported = update_imports(entries); !imported) {
      log::warn("{}; guest memory is mirrored on the device and copied by the CPU instead",
                imported.error().describe());
      import_ = false;
      mirror_ = true;
      imports_.clear();
    }
  }
  if (mirrors()) return update_mirrors(entries);
  return std::vector<ArenaRange>{};
}

void ArenaBuffers::move_to_mirrors(std::span<const ArenaRange> ranges) {
  for (const ArenaRange& range : ranges) {
    moved_.push_back({align_down(range.begin, kGuestPage), align_up(range.end, kGuestPage)});
  }
  memory::merge_ranges(moved_);
}

bool ArenaBuffers::mirrored(ArenaRange range) const {
  uint64_t covered = 0;
  for_each_common(mirrored_, range, [&](ArenaRange common) { covered += common.size(); });
  return covered == range.size();
}

void ArenaBuffers::discard(ArenaRange range) {
  std::erase_if(imports_, [&](const ImportPiece& piece) {
    return piece.range.begin < range.end && range.begin < piece.range.end;
  });
}

std::optional<ArenaSlice> ArenaBuffers::find(ArenaOffset offset) const {
  const auto after = std::ranges::upper_bound(mirrored_, offset.value, {}, &ArenaRange::begin);
  const bool before_next = after != mirrored_.end();
  if (after != mirrored_.begin() && offset.value < std::prev(after)->end) {
    const auto* piece = piece_at(std::span<const MirrorPiece>(mirrors_), offset.value);
    return piece != nullptr ? std::optional(slice_of(*piece, offset.value, std::prev(after)->end)) : std::nullopt;
  }
  auto slice = find_import(offset);
  // An import ends for programs where a mirror begins.
  if (slice && before_next) slice->available = std::min(slice->available, after->begin - offset.value);
  return slice;
}

std::optional<ArenaSlice> ArenaBuffers::find_import(ArenaOffset offset) const {
  const auto* piece = piece_at(std::span<const ImportPiece>(imports_), offset.value);
  if (piece == nullptr) return std::nullopt;
  return slice_of(*piece, offset.value, piece->range.end);
}

std::optional<ArenaOffset> ArenaBuffers::offset_of_import(DeviceAddress address) const {
  for (const ImportPiece& piece : imports_) {
    const uint64_t inside = address.value - piece.buffer.address().value;
    if (address >= piece.buffer.address() && inside < piece.range.size())
      return ArenaOffset{piece.range.begin + inside};
  }
  return std::nullopt;
}

const MirrorPiece* ArenaBuffers::mirror_at(uint64_t offset) const {
  return piece_at(std::span<const MirrorPiece>(mirrors_), offset);
}

}  // namespace orrery::dispatch
