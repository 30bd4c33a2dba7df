#include "guest-host/loader/title_file.hpp"

#include <elf.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>

#include "guest-host/loader/file_view.hpp"
#include "shared/plain_file.hpp"

namespace orrery::loader {

namespace {

constexpr uint64_t kLargestFile = 4ull << 30;
constexpr uint32_t kMagicTitle = 0x1D3D154F, kMagicModule = 0xEEF51454;

struct SelfHeader {
  uint32_t magic;
  uint8_t version, mode, endian, attributes;
  uint32_t key_type;
  uint16_t header_size, meta_size;
  uint64_t file_size;
  uint16_t entries, flags;
  uint32_t padding;
};
static_assert(sizeof(SelfHeader) == 32);
struct SelfEntry {
  uint64_t properties, offset, file_size, memory_size;
};
constexpr uint64_t kEncrypted = 2, kCompressed = 8, kHasData = 1 << 11;

}  // namespace

Result<std::vector<std::byte>> read_title_file(const std::string& given) {
  std::string path = given;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) path += "/eboot.bin";
  const PlainFile file = open_plain_file(path);
  if (!file.fd) {
    return fail(ExitCode::file_missing, "cannot open {}: {}. Give the path of a title's eboot.bin or of its folder.",
                path, std::strerror(errno));
  }
  if (!file.plain) return fail(ExitCode::file_missing, "{} is not a file", path);
  const uint64_t size = file.size;
  if (size == 0) return fail(ExitCode::file_malformed, "{} is empty", path);
  if (size > kLargestFile)
    return fail(ExitCode::file_malformed, "{} has {} bytes, more than a title can have", path, size);
  std::vector<std::byte> bytes(size);
  const size_t done = read_all(file.fd.get(), bytes);
  if (done < size && errno != 0) return fail(ExitCode::file_missing, "cannot read {}: {}", path, std::strerror(errno));
  bytes.resize(done);
  return bytes;
}

Result<std::vector<std::byte>> unwrap_self(std::vector<std::byte> bytes) {
  const FileView file(bytes);
  const auto header = file.get<SelfHeader>(0);
  if (!header || (header->magic != kMagicTitle && header->magic != kMagicModule)) return bytes;
  const uint64_t elf_at = sizeof(SelfHeader) + uint64_t{header->entries} * sizeof(SelfEntry);
  const auto elf = file.get<Elf64_Ehdr>(elf_at);
  if (!elf) return fail(ExitCode::file_malformed, "the SELF ends inside its headers: the file is cut off");
  const uint64_t table_size = uint64_t{elf->e_phnum} * sizeof(Elf64_Phdr);
  const auto table =
      elf->e_phoff > bytes.size() ? std::span<const std::byte>{} : file.bytes(elf_at + elf->e_phoff, table_size);
  if (elf->e_phentsize != sizeof(Elf64_Phdr) || table.size() != table_size || table_size == 0) {
    return fail(ExitCode::file_malformed, "the SELF's program headers are outside the file");
  }
  std::vector<std::byte> out(std::max<uint64_t>(sizeof(Elf64_Ehdr), elf->e_phoff + table_size));
  std::memcpy(out.data(), &*elf, sizeof *elf);
  std::ranges::copy(table, out.begin() + static_cast<std::ptrdiff_t>(elf->e_phoff));
  const FileView headers(table);
  for (uint16_t i = 0; i < header->entries; ++i) {
    const auto entry = *file.get<SelfEntry>(sizeof(SelfHeader) + uint64_t{i} * sizeof(SelfEntry));
    if ((entry.properties & kHasData) == 0) continue;
    if ((entry.properties & (kEncrypted | kCompressed)) != 0) {
      return fail(ExitCode::file_malformed,
                  "the SELF is {}: only unencrypted titles can be run, whose keys nobody needs",
                  (entry.properties & kEncrypted) != 0 ? "encrypted" : "compressed");
    }
    const auto segment = headers.get<Elf64_Phdr>((entry.properties >> 20 & 0xfff) * sizeof(Elf64_Phdr));
    const auto data = file.bytes(entry.offset, entry.file_size);
    if (!segment || data.size() != entry.file_size) {
      return fail(ExitCode::file_malformed, "entry {} of the SELF lies outside the file: the file is cut off", i);
    }
    if (segment->p_offset > kLargestFile || data.size() > kLargestFile - segment->p_offset) {
      return fail(ExitCode::file_malformed, "entry {} of the SELF is placed at {:#x}", i, segment->p_offset);
    }
    // Overlapping entries could blow a small file up; segments lie behind each other, gaps are alignment.
    if (segment->p_offset > bytes.size() + (1 << 20)) {
      return fail(ExitCode::file_malformed, "entry {} of the SELF is placed at {:#x}, far behind the file's end", i,
                  segment->p_offset);
    }
    out.resize(std::max<uint64_t>(out.size(), segment->p_offset + data.size()));
    std::ranges::copy(data, out.begin() + static_cast<std::ptrdiff_t>(segment->p_offset));
  }
  return out;
}

}  // namespace orrery::loader
