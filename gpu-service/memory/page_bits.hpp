// One bit per host page (4 KiB) of the arena, and its runs.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "gpu-service/memory/arena_range.hpp"
#include "shared/write_watch.hpp"

namespace orrery::memory {

class PageBits {
 public:
  explicit PageBits(uint64_t arena_size)
      : pages_(arena_size / kHostPage), words_((pages_ + 63) / 64), summary_((words_.size() + 63) / 64) {}

  // Whole pages: ranges are rounded out, and cut where the arena ends.
  void set(ArenaRange range, bool value);
  bool test(uint64_t byte) const {
    const uint64_t page = byte / kHostPage;
    return page < pages_ && (words_[page / 64] >> page % 64 & 1) != 0;
  }
  bool any(ArenaRange range) const;
  uint64_t count() const;  // set pages
  ArenaRange all() const { return {0, pages_ * kHostPage}; }

  // Calls visit(ArenaRange) for each longest run of pages of the range whose bit is `value`, ascending. The visitor may
  // change bits of the run that it is given, and of earlier ones.
  template <class Visit>
  void for_each_run(ArenaRange range, bool value, Visit&& visit) const {
    const uint64_t last = last_page(range);
    for (uint64_t page = find(range.begin / kHostPage, last, value); page < last;) {
      const uint64_t end = find(page, last, !value);
      visit(ArenaRange{page * kHostPage, end * kHostPage});
      page = find(end, last, value);
    }
  }

 private:
  uint64_t last_page(ArenaRange range) const;
  // The first page of [page, last) whose bit is `value`; `last` when there is none.
  uint64_t find(uint64_t page, uint64_t last, bool value) const;
  // The first word from `index` on that is not 0.
  uint64_t next_word(uint64_t index) const;

  uint64_t pages_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> summary_;  // one bit per word that is not 0: few pages of a large arena are set
};

}  // namespace orrery::memory
