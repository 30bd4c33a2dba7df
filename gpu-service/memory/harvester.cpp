#include "gpu-service/memory/harvester.hpp"

#include <algorithm>

#include "gpu-service/memory/page_bits.hpp"
#include "shared/content_hash.hpp"

namespace orrery::memory {
namespace {

class PageTableHarvester final : public Harvester {
 public:
  explicit PageTableHarvester(WriteScan scan) : scan_(std::move(scan)) {}

  std::string_view name() const override { return "uffd"; }

  void map_changed(std::span<const protocol::MapEntry> entries) override {
    windows_.clear();
    for (const auto& entry : entries) {
      windows_.push_back({{entry.arena_offset, entry.arena_offset + entry.size}, entry.guest_begin, 0});
    }
    std::ranges::sort(windows_, {}, [](const Window& window) { return window.arena.begin; });
    uint64_t end = 0;
    for (Window& window : windows_) window.highest_end = end = std::max(end, window.arena.end);
  }

  Result<void> arm(ArenaRange range) override {
    return for_each_window(range, [&](const Window&, AddressRange guest) { return scan_.arm(guest); });
  }

  Result<void> harvest(ArenaRange range, std::vector<ArenaRange>& written) override {
    return for_each_window(range, [&](const Window& window, AddressRange guest) -> Result<void> {
      found_.clear();
      ORRERY_TRY(scan_.harvest(guest, found_));
      for (const AddressRange& part : found_) {
        const uint64_t begin = part.begin - window.guest_begin + window.arena.begin;
        written.push_back({begin, begin + (part.end - part.begin)});
      }
      return {};
    });
  }

 private:
  struct Window {
    ArenaRange arena;
    uint64_t guest_begin = 0;
    uint64_t highest_end = 0;  // of this window and all before it
  };

  // Every window that shows a part of the range: a write through any of them counts.
  template <class Do>
  Result<void> for_each_window(ArenaRange range, Do&& act) {
    auto window = std::ranges::lower_bound(windows_, range.end, {}, [](const Window& w) { return w.arena.begin; });
    while (window != windows_.begin() && (--window)->highest_end > range.begin) {
      const uint64_t begin = std::max(range.begin, window->arena.begin);
      const uint64_t end = std::min(range.end, window->arena.end);
      if (begin >= end) continue;
      const uint64_t guest = begin - window->arena.begin + window->guest_begin;
      ORRERY_TRY(act(*window, AddressRange{guest, guest + (end - begin)}));
    }
    return {};
  }

  WriteScan scan_;
  std::vector<Window> windows_;  // by arena offset
  std::vector<AddressRange> found_;
};

class ContentHarvester final : public Harvester {
 public:
  explicit ContentHarvester(std::span<const std::byte> arena)
      : arena_(arena), hashes_(arena.size() / kHostPage), stored_(arena.size()) {}

  std::string_view name() const override { return "hash"; }
  void map_changed(std::span<const protocol::MapEntry>) override {}

  Result<void> arm(ArenaRange range) override {
    for (uint64_t at = range.begin; at < range.end; at += kHostPage) hashes_[at / kHostPage] = hash_at(at);
    stored_.set(range, false);
    return {};
  }

  Result<void> harvest(ArenaRange range, std::vector<ArenaRange>& written) override {
    for (uint64_t at = range.begin; at < range.end; at += kHostPage) {
      const uint64_t now = hash_at(at);
      if (std::exchange(hashes_[at / kHostPage], now) != now || stored_.test(at)) {
        written.push_back({at, at + kHostPage});
      }
    }
    stored_.set(range, false);
    return {};
  }

  // Contents can't tell who wrote; the title may have put back what was there before, and then they say nothing at all.
  void stored(ArenaRange range) override { stored_.set(range, true); }

 private:
  uint64_t hash_at(uint64_t at) const { return hash_bytes(arena_.subspan(at, kHostPage)).low; }

  std::span<const std::byte> arena_;
  std::vector<uint64_t> hashes_;  // by page
  PageBits stored_;
};

}  // namespace

Result<std::unique_ptr<Harvester>> make_page_table_harvester(UniqueFd pagemap) {
  auto scan = WriteScan::open(std::move(pagemap));
  if (!scan) return std::unexpected(std::move(scan.error()));
  return std::make_unique<PageTableHarvester>(std::move(*scan));
}

std::unique_ptr<Harvester> make_content_harvester(std::span<const std::byte> arena) {
  return std::make_unique<ContentHarvester>(arena);
}

}  // namespace orrery::memory
