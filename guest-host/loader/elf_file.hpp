// A title's ELF, its headers checked: everything that later steps rely on is inside the file and inside bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "guest-host/loader/file_view.hpp"
#include "shared/error.hpp"

namespace orrery::loader {

// Program header types of the console (guest-abi.md 1.2); the usual ones are in <elf.h>.
inline constexpr uint32_t kSegmentDynamicTables = 0x61000000;
inline constexpr uint32_t kSegmentProcessParameters = 0x61000001;
inline constexpr uint32_t kSegmentRelocatedData = 0x61000010;  // PT_SCE_RELRO
// Executable types (1.1).
inline constexpr uint16_t kTypeFixed = 0xFE00, kTypeExecutable = 0xFE10, kTypeLibrary = 0xFE18;

struct Segment {
  uint32_t type = 0;
  uint32_t flags = 0;  // PF_R, PF_W, PF_X
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  uint64_t alignment = 0;
  bool holds(uint64_t at, uint64_t size) const {
    return at >= address && at - address <= memory_size && size <= memory_size - (at - address);
  }
};

class ElfFile {
 public:
  // Errors: wrong_machine, file_malformed.
  static Result<ElfFile> parse(std::vector<std::byte> bytes);

  uint16_t type() const { return type_; }
  uint64_t entry() const { return entry_; }
  // Loaded segments, by address, not overlapping.
  const std::vector<Segment>& loads() const { return loads_; }
  std::optional<Segment> segment(uint32_t type) const;
  // First and last address (exclusive) of the loaded segments.
  uint64_t begin() const { return loads_.front().address; }
  uint64_t end() const { return loads_.back().address + loads_.back().memory_size; }
  // The file's bytes of a segment.
  std::span<const std::byte> content(const Segment& segment) const {
    return FileView(bytes_).bytes(segment.offset, segment.file_size);
  }
  // The file's bytes at an address of a loaded segment; none unless all are there.
  std::span<const std::byte> at(uint64_t address, uint64_t size) const;
  // The loaded segment that holds the range.
  const Segment* load_of(uint64_t address, uint64_t size) const;

 private:
  std::vector<std::byte> bytes_;
  uint16_t type_ = 0;
  uint64_t entry_ = 0;
  std::vector<Segment> segments_;
  std::vector<Segment> loads_;
};

}  // namespace orrery::loader
