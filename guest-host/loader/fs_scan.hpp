// Finds the instructions of a title that use the thread pointer (an FS prefix), with a real decoder and only in code
// that is known to be code.
#pragma once

#include <cstdint>
#include <vector>

#include "guest-host/loader/code_ranges.hpp"

namespace orrery::loader {

struct FsScan {
  std::vector<uint64_t> prefixes;  // addresses of the prefix bytes 0x64
  uint64_t doubtful = 0;           // what looks like a use of FS outside of known code, or handles the base itself
  uint64_t undecodable = 0;        // ranges that hold something that is no instruction; their rest counts as outside
  // All uses of FS are known.
  bool complete() const { return doubtful == 0; }
};
FsScan scan_fs_uses(const ElfFile& elf, const std::vector<CodeRange>& code);

}  // namespace orrery::loader
