// The guest's windows by what they show of the arena, and by their guest addresses.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "gpu-service/memory/arena_range.hpp"
#include "protocol/segment_layout.hpp"
#include "shared/write_watch.hpp"

namespace orrery::memory {

class WindowIndex {
 public:
  struct Window {
    ArenaRange arena;
    uint64_t guest_begin = 0;
    uint64_t highest_end = 0;  // of this window and all before it
  };

  WindowIndex() = default;
  explicit WindowIndex(std::span<const protocol::MapEntry> entries) {
    for (const auto& entry : entries) {
      windows_.push_back({{entry.arena_offset, entry.arena_offset + entry.size}, entry.guest_begin, 0});
    }
    std::ranges::sort(windows_, {}, &Window::guest_begin);
    for (const Window& window : windows_) {
      const uint64_t end = window.guest_begin + window.arena.size();
      if (!stretches_.empty() && stretches_.back().end == window.guest_begin) {
        stretches_.back().end = end;
      } else {
        stretches_.push_back({window.guest_begin, end});
      }
    }
    std::ranges::sort(windows_, {}, [](const Window& window) { return window.arena.begin; });
    uint64_t end = 0;
    for (Window& window : windows_) window.highest_end = end = std::max(end, window.arena.end);
  }

  // Calls visit(window, guest addresses) for every window that shows a part of the range.
  template <class Visit>
  void for_each(ArenaRange range, Visit&& visit) const {
    auto window = std::ranges::lower_bound(windows_, range.end, {}, [](const Window& w) { return w.arena.begin; });
    while (window != windows_.begin()) {
      --window;
      if (window->highest_end <= range.begin) break;
      const uint64_t begin = std::max(range.begin, window->arena.begin);
      const uint64_t end = std::min(range.end, window->arena.end);
      if (begin >= end) continue;
      const uint64_t guest = begin - window->arena.begin + window->guest_begin;
      visit(*window, AddressRange{guest, guest + (end - begin)});
    }
  }

  // Guest addresses that windows show without a gap: sorted, apart.
  std::span<const AddressRange> stretches() const { return stretches_; }

 private:
  std::vector<Window> windows_;  // by arena offset
  std::vector<AddressRange> stretches_;
};

}  // namespace orrery::memory
