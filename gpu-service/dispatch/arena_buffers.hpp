// The arena as the device sees it, in pieces: imported (zero-copy), mirrored in device-local buffers, or both, when
// mirrors are filled from the import. Who keeps mirrors equal to the arena is MirrorSync.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu-service/dispatch/arena_plan.hpp"
#include "gpu-service/vulkan/buffer.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::vulkan {
class Device;
}

namespace orrery::dispatch {

// A range of the arena in one device buffer.
struct ArenaSlice {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0;     // bytes into the buffer
  DeviceAddress address;   // of its first byte
  uint64_t available = 0;  // bytes from the first byte to the end of what the buffer shows
};

struct MirrorPiece {
  ArenaRange range;
  vulkan::Buffer buffer;
  vulkan::Buffer twin;  // contents when uploaded, changed by no program: what differs from it is the device's work
};

class ArenaBuffers {
 public:
  // With neither, or where the device can't import: mirrors alone.
  ArenaBuffers(const vulkan::Device& device, std::span<std::byte> arena, bool import, bool mirror);

  // Makes buffers for what the entries show; answers the ranges whose mirrors are new, with undefined contents. Only
  // while the device is idle. Error: the device is out of memory or lost.
  Result<std::vector<ArenaRange>> update(std::span<const protocol::MapEntry> entries);
  // Drops imports of host pages that were given back; the next update() takes the pages anew. Only while idle.
  void discard(ArenaRange range);
  // The buffer that holds arena byte `offset` for programs; nothing where no entry showed it.
  std::optional<ArenaSlice> find(ArenaOffset offset) const;
  // The import of that byte, whether or not programs work in it.
  std::optional<ArenaSlice> find_import(ArenaOffset offset) const;

  std::optional<ArenaOffset> offset_of_import(DeviceAddress address) const;

  bool imports() const { return import_; }
  bool mirrors() const { return mirror_ || !moved_.empty(); }
  // Programs reach all memory that is the device's through mirrors.
  bool mirrors_everything() const { return mirror_ && !incomplete_; }
  bool incomplete() const { return incomplete_; }  // not all that should be mirrored found room
  // From the next update() on, programs reach these ranges through mirrors; or everything.
  void move_to_mirrors(std::span<const ArenaRange> ranges);
  void mirror_everything() { mirror_ = true; }
  bool mirrored(ArenaRange range) const;
  // What programs reach through mirrors: sorted, apart.
  std::span<const ArenaRange> mirrored() const { return mirrored_; }
  // The piece that mirrors the byte, null where none does.
  const MirrorPiece* mirror_at(uint64_t offset) const;
  size_t pieces() const { return imports_.size() + mirrors_.size(); }

 private:
  struct ImportPiece {
    ArenaRange range;
    vulkan::Buffer buffer;
  };
  Result<MirrorPiece> make_mirror(const ArenaRange& range) const;
  Result<void> update_imports(std::span<const protocol::MapEntry> entries);
  Result<std::vector<ArenaRange>> update_mirrors(std::span<const protocol::MapEntry> entries);
  PlanLimits limits() const;
  std::vector<ArenaRange> cut(std::vector<ArenaRange> ranges) const;

  const vulkan::Device& device_;
  std::span<std::byte> arena_;
  bool import_, mirror_;
  bool incomplete_ = false;
  std::vector<ArenaRange> moved_;     // sorted, apart; whole guest pages
  std::vector<ImportPiece> imports_;  // sorted, apart
  std::vector<MirrorPiece> mirrors_;  // sorted, apart
  std::vector<ArenaRange> mirrored_;
};

}  // namespace orrery::dispatch
