// Guest memory for waves that are run on the host: read as it was when a page was first looked at, stored to in copies
// that nobody else sees, and everything that was looked at is noted.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gpu-service/memory/recording_memory.hpp"
#include "gpu-service/shader/interpret/interpreter.hpp"

namespace orrery::dispatch {

// Pages are noted in lines: more exact than a page, and a bit each.
inline constexpr uint64_t kHostPage = 1 << 14, kHostLine = 64, kHostLines = kHostPage / kHostLine;

// Pages as they were when the first thread looked at them. For any thread.
class PageSnapshots {
 public:
  explicit PageSnapshots(const memory::GuestMemory& memory) : memory_(memory) {}

  struct Page {
    std::array<std::byte, kHostPage> bytes;
    std::bitset<kHostLines> mapped;
  };
  // Nothing: more pages than a run may look at.
  std::shared_ptr<const Page> page(uint64_t number);
  static constexpr size_t kMostPages = 16384;  // 256 MiB

 private:
  const memory::GuestMemory& memory_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const Page>> pages_;
};

// What was looked at, by page.
struct PageNotes {
  std::bitset<kHostLines> read;      // bytes that counted
  std::bitset<kHostLines> asked;     // only the place of a load counted
  std::bitset<kHostLines> stored;    // mapped, and stored to
  std::bitset<kHostLines> unmapped;  // asked for, and not mapped
  void add(const PageNotes& other) {
    read |= other.read;
    asked |= other.asked;
    stored |= other.stored;
    unmapped |= other.unmapped;
  }
};
using NotesByPage = std::unordered_map<uint64_t, PageNotes>;

// One thread's. Every group sees what was there before the run, and its own stores.
class HostMemory final : public shader::interpret::GuestBytes {
 public:
  explicit HostMemory(PageSnapshots& snapshots) : snapshots_(snapshots) {}

  bool read(uint64_t address, std::span<std::byte> out) override;
  bool write(uint64_t address, std::span<const std::byte> bytes) override;
  bool touch(uint64_t address, uint64_t size, bool store) override;

  // Forgets the group's stores.
  void next_group();
  const NotesByPage& notes() const { return notes_; }
  // Too many pages, or a load of something whose value was left out.
  const char* failed() const { return failed_; }
  bool read_what_was_left_out() const { return read_left_out_; }

 private:
  struct View {
    std::shared_ptr<const PageSnapshots::Page> page;
    PageNotes* notes = nullptr;
    std::unique_ptr<std::array<std::byte, kHostPage>> own;  // with the group's stores
    std::bitset<kHostLines> left_out;                       // stored to without a value, by this group
  };
  View* view(uint64_t page);
  template <class Use>
  bool each_piece(uint64_t address, uint64_t size, Use use);

  PageSnapshots& snapshots_;
  NotesByPage notes_;
  std::unordered_map<uint64_t, View> views_;
  std::vector<uint64_t> changed_;  // pages with stores of this group
  uint64_t last_number_ = ~0ull;
  View* last_ = nullptr;
  const char* failed_ = nullptr;
  bool read_left_out_ = false;
};

// The notes as the memo keeps them: reads with the bytes of the snapshots.
memory::MemoryNotes notes_of(const NotesByPage& notes, PageSnapshots& snapshots);
// Lines as spans, in order; those that touch are one.
std::vector<memory::GuestSpan> spans_of(const NotesByPage& notes, std::bitset<kHostLines> PageNotes::* lines);

}  // namespace orrery::dispatch
