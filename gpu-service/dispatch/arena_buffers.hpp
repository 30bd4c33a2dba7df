// The arena as the device sees it: imported in pieces (zero-copy), or mirrored in device buffers where the driver
// refuses to import; then everything mapped is copied in before work and every changed byte is copied back after it.
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
  uint64_t available = 0;  // bytes from the first byte to the end of the buffer
};

class ArenaBuffers {
 public:
  ArenaBuffers(const vulkan::Device& device, std::span<std::byte> arena, bool import);

  // Makes buffers for what the entries show. Only while the device is idle. Error: the device is out of memory or lost.
  Result<void> update(std::span<const protocol::MapEntry> entries);
  // The buffer that holds arena byte `offset`; nothing where no entry showed it.
  std::optional<ArenaSlice> find(ArenaOffset offset) const;

  bool mirrored() const { return !import_; }
  // Mirrors only: arena to device before work, changed bytes back after it. Nothing to do for imports.
  void upload();
  void write_back();
  size_t pieces() const { return pieces_.size(); }

 private:
  struct Piece {
    ArenaRange range;
    vulkan::Buffer buffer;
    std::vector<std::byte> twin;  // mirrors: contents when uploaded
  };
  Result<Piece> make_piece(const ArenaRange& range);
  PlanLimits limits() const;

  const vulkan::Device& device_;
  std::span<std::byte> arena_;
  bool import_;
  std::vector<Piece> pieces_;       // sorted, apart
  std::vector<ArenaRange> mapped_;  // what the entries show exactly
};

}  // namespace orrery::dispatch
