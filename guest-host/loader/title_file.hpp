// The bytes of a title: read from disk, and taken out of an unencrypted SELF where they are in one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/error.hpp"

namespace orrery::loader {

// Reads a file, or the eboot.bin of a folder. Errors: file_missing (cannot be opened), file_malformed (empty, too
// large).
Result<std::vector<std::byte>> read_title_file(const std::string& path);

// The ELF inside a SELF; other bytes come back as they are. Errors (file_malformed): encrypted or compressed entries,
// places outside the file. Layout: guest-abi.md 1.8.
Result<std::vector<std::byte>> unwrap_self(std::vector<std::byte> bytes);

}  // namespace orrery::loader
