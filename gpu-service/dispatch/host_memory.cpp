#include "gpu-service/dispatch/host_memory.hpp"

#include <algorithm>
#include <cstring>

#include "shared/measure/span.hpp"

namespace orrery::dispatch {

std::shared_ptr<const PageSnapshots::Page> PageSnapshots::page(uint64_t number) {
  const measure::CountedLock lock(mutex_);
  const auto known = pages_.find(number);
  if (known != pages_.end()) return known->second;
  if (pages_.size() >= kMostPages) return nullptr;
  auto page = std::make_shared<Page>();
  const GuestAddress begin{number * kHostPage};
  if (memory_.read(begin, page->bytes)) {
    page->mapped.set();
  } else {
    for (uint64_t line = 0; line < kHostLines; ++line) {
      const auto bytes = std::span(page->bytes).subspan(line * kHostLine, kHostLine);
      page->mapped[line] = memory_.read(begin + Bytes{line * kHostLine}, bytes).has_value();
    }
  }
  return pages_.emplace(number, std::move(page)).first->second;
}

HostMemory::View* HostMemory::view(uint64_t number) {
  if (number == last_number_) return last_;
  auto [at, fresh] = views_.try_emplace(number);
  if (fresh) {
    at->second.page = snapshots_.page(number);
    if (at->second.page == nullptr) {
      failed_ = "it touches more memory than a run on the host may";
      views_.erase(at);
      return nullptr;
    }
    at->second.notes = &notes_[number];
  }
  last_number_ = number;
  last_ = &at->second;
  return last_;
}

// Pieces by page, each with its lines [first, last]. False: a piece is not mapped; it is noted.
template <class Use>
bool HostMemory::each_piece(uint64_t address, uint64_t size, Use use) {
  if (size == 0 || address > UINT64_MAX - size) return size == 0;
  for (uint64_t done = 0; done < size;) {
    const uint64_t at = address + done, inside = at % kHostPage;
    const uint64_t some = std::min(size - done, kHostPage - inside);
    View* const page = view(at / kHostPage);
    if (page == nullptr) return false;
    const uint64_t first = inside / kHostLine, last = (inside + some - 1) / kHostLine;
    for (uint64_t line = first; line <= last; ++line) {
      if (page->page->mapped[line]) continue;
      page->notes->unmapped.set(line);
      return false;
    }
    use(*page, inside, done, some, first, last);
    done += some;
  }
  return true;
}

bool HostMemory::read(uint64_t address, std::span<std::byte> out) {
  return each_piece(address, out.size(),
                    [&](View& page, uint64_t inside, uint64_t done, uint64_t some, uint64_t first, uint64_t last) {
                      for (uint64_t line = first; line <= last; ++line) {
                        page.notes->read.set(line);
                        read_left_out_ = read_left_out_ || page.left_out[line];
                      }
                      const std::byte* from = page.own ? page.own->data() : page.page->bytes.data();
                      std::memcpy(out.data() + done, from + inside, some);
                    });
}

bool HostMemory::write(uint64_t address, std::span<const std::byte> bytes) {
  return each_piece(address, bytes.size(),
                    [&](View& page, uint64_t inside, uint64_t done, uint64_t some, uint64_t first, uint64_t last) {
                      for (uint64_t line = first; line <= last; ++line) page.notes->stored.set(line);
                      if (!page.own) {
                        page.own = std::make_unique<std::array<std::byte, kHostPage>>(page.page->bytes);
                        changed_.push_back((address + done) / kHostPage);
                      }
                      std::memcpy(page.own->data() + inside, bytes.data() + done, some);
                    });
}

bool HostMemory::touch(uint64_t address, uint64_t size, bool store) {
  return each_piece(address, size, [&](View& page, uint64_t, uint64_t done, uint64_t, uint64_t first, uint64_t last) {
    for (uint64_t line = first; line <= last; ++line) {
      if (!store) {
        page.notes->asked.set(line);
        continue;
      }
      page.notes->stored.set(line);
      if (page.left_out.none()) changed_.push_back((address + done) / kHostPage);
      page.left_out.set(line);
    }
  });
}

void HostMemory::next_group() {
  for (const uint64_t number : changed_) {
    View& page = views_.at(number);
    page.own.reset();
    page.left_out.reset();
  }
  changed_.clear();
}

std::vector<memory::GuestSpan> spans_of(const NotesByPage& notes, std::bitset<kHostLines> PageNotes::* lines) {
  std::vector<uint64_t> pages;
  for (const auto& [number, page] : notes) {
    if ((page.*lines).any()) pages.push_back(number);
  }
  std::ranges::sort(pages);
  std::vector<memory::GuestSpan> spans;
  for (const uint64_t number : pages) {
    const auto& set = notes.at(number).*lines;
    for (uint64_t line = 0; line < kHostLines; ++line) {
      if (!set[line]) continue;
      const GuestAddress at{number * kHostPage + line * kHostLine};
      if (!spans.empty() && spans.back().begin + spans.back().size == at) {
        spans.back().size = spans.back().size + Bytes{kHostLine};
      } else {
        spans.push_back({at, {kHostLine}});
      }
    }
  }
  return spans;
}

memory::MemoryNotes notes_of(const NotesByPage& notes, PageSnapshots& snapshots) {
  memory::MemoryNotes out;
  std::vector<std::byte> bytes;
  for (const memory::GuestSpan& span : spans_of(notes, &PageNotes::read)) {
    bytes.clear();
    for (uint64_t at = span.begin.value; at < span.begin.value + span.size.value; at += kHostLine) {
      const auto page = snapshots.page(at / kHostPage);
      const std::byte* from = page->bytes.data() + at % kHostPage;
      bytes.insert(bytes.end(), from, from + kHostLine);
    }
    out.read.push_back({span, hash_bytes(bytes)});
  }
  NotesByPage present;
  for (const auto& [number, page] : notes) present[number].asked = page.asked | page.stored;
  out.mapped = spans_of(present, &PageNotes::asked);
  out.unmapped = spans_of(notes, &PageNotes::unmapped);
  const size_t spans = out.read.size() + out.mapped.size() + out.unmapped.size();
  if (spans > memory::kMostNotedSpans) return {{}, {}, {}, "it looked at too many places"};
  return out;
}

}  // namespace orrery::dispatch
