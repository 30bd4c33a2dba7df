// Which addresses of a title are known to hold instructions: its unwind tables (.eh_frame, one entry per function) and
// its function symbols. What lies between may be data.
#pragma once

#include <cstdint>
#include <vector>

#include "guest-host/loader/dynamic_table.hpp"
#include "guest-host/loader/elf_file.hpp"

namespace orrery::loader {

struct CodeRange {
  uint64_t begin = 0;
  uint64_t size = 0;
};

// Sorted, not overlapping, each inside the file's bytes of an executable segment. Damaged tables give fewer ranges.
std::vector<CodeRange> known_code(const ElfFile& elf, const DynamicTable& dynamic);

}  // namespace orrery::loader
