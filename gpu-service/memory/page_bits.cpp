#include "gpu-service/memory/page_bits.hpp"

#include <algorithm>

namespace orrery::memory {

uint64_t PageBits::last_page(ArenaRange range) const {
  if (range.end <= range.begin) return 0;
  return std::min((range.end - 1) / kHostPage + 1, pages_);
}

void PageBits::set(ArenaRange range, bool value) {
  const uint64_t last = last_page(range);
  for (uint64_t page = range.begin / kHostPage; page < last;) {
    const uint64_t bit = page % 64, count = std::min(64 - bit, last - page);
    const uint64_t mask = (count == 64 ? ~0ull : (1ull << count) - 1) << bit;
    uint64_t& word = words_[page / 64];
    word = value ? word | mask : word & ~mask;
    const uint64_t index = page / 64, summary_bit = 1ull << index % 64;
    summary_[index / 64] = word != 0 ? summary_[index / 64] | summary_bit : summary_[index / 64] & ~summary_bit;
    page += count;
  }
}

uint64_t PageBits::find(uint64_t page, uint64_t last, bool value) const {
  while (page < last) {
    const uint64_t word = value ? words_[page / 64] : ~words_[page / 64];
    const uint64_t rest = word >> page % 64;
    if (rest != 0) return std::min(page + static_cast<uint64_t>(std::countr_zero(rest)), last);
    page = (value ? next_word(page / 64 + 1) : page / 64 + 1) * 64;
  }
  return last;
}

uint64_t PageBits::next_word(uint64_t index) const {
  while (index < words_.size()) {
    const uint64_t rest = summary_[index / 64] >> index % 64;
    if (rest != 0) return index + static_cast<uint64_t>(std::countr_zero(rest));
    index = (index / 64 + 1) * 64;
  }
  return words_.size();
}

bool PageBits::any(ArenaRange range) const {
  const uint64_t last = last_page(range);
  return find(range.begin / kHostPage, last, true) < last;
}

uint64_t PageBits::count() const {
  uint64_t sum = 0;
  for (const uint64_t word : words_) sum += static_cast<uint64_t>(std::popcount(word));
  return sum;
}

}  // namespace orrery::memory
