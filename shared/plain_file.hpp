// Plain files that are read or written whole, and never waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>

#include "shared/unique_fd.hpp"

namespace orrery {

struct PlainFile {
  UniqueFd fd;         // none: it could not be opened, errno says why
  bool plain = false;  // else a pipe, a device or a folder stands there
  uint64_t size = 0;   // bytes, of a plain one
};
// Opens for reading. A pipe in the file's place would make a plain open wait for a writer; this one does not.
PlainFile open_plain_file(const std::filesystem::path& path);

// Reads until `out` is full, the file ends (errno 0) or reading fails (errno says why). Answers the bytes read.
size_t read_all(int fd, std::span<std::byte> out);
// Writes all of it; false when the host refuses, errno says why.
bool write_all(int fd, std::span<const std::byte> bytes);

// Puts a file of these pieces at `path`, whose folder is made when there is none: written beside it and renamed, so
// that readers see it whole or not at all. False when the host refuses, errno says why; nothing is left behind then.
bool publish_file(const std::filesystem::path& path, std::initializer_list<std::span<const std::byte>> pieces);

}  // namespace orrery
