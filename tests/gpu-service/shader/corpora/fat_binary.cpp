#include "tests/gpu-service/shader/corpora/fat_binary.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstring>
#include <string_view>
#include <utility>

namespace orrery::corpora {
namespace {

constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__", kCompressed = "CCOB";

template <class T>
bool fetch(std::span<const std::byte> bytes, uint64_t offset, T& out) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> section(std::span<const std::byte> file, std::string_view wanted) {
  Elf64_Ehdr header;
  Elf64_Shdr names, one;
  if (!fetch(file, 0, header) || !fetch(file, header.e_shoff + header.e_shstrndx * sizeof names, names)) return {};
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    if (!fetch(file, header.e_shoff + i * sizeof one, one)) return {};
    const uint64_t name = names.sh_offset + one.sh_name;
    if (name + wanted.size() + 1 > file.size() || one.sh_offset > file.size() ||
        one.sh_size > file.size() - one.sh_offset) {
      continue;
    }
    if (text_of(file.subspan(name, wanted.size() + 1)) == std::string(wanted) + '\0') {
      return file.subspan(one.sh_offset, one.sh_size);
    }
  }
  return {};
}

}  // namespace

FatBinary::FatBinary(FatBinary&& other) noexcept
    : mapping_(std::exchange(other.mapping_, {})), code_objects_(std::move(other.code_objects_)) {}

FatBinary::~FatBinary() {
  if (!mapping_.empty()) munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
}

std::expected<FatBinary, std::string> FatBinary::open(const std::string& path, const std::string& target) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::unexpected("cannot read " + path);
  struct stat facts{};
  fstat(file, &facts);
  const auto size = static_cast<size_t>(facts.st_size);
  void* at = size != 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (at == MAP_FAILED) return std::unexpected("cannot map " + path);
  FatBinary result(std::span(static_cast<const std::byte*>(at), size));
  const auto fat = section(result.mapping_, ".hip_fatbin");
  if (fat.empty()) return std::unexpected(path + " has no section .hip_fatbin");
  if (text_of(fat).starts_with(kCompressed)) return std::unexpected(path + " has compressed bundles");
  // A bundle: magic, count, then per entry offset, size, length of the name, name.
  for (size_t bundle = text_of(fat).find(kBundle); bundle != std::string_view::npos;
       bundle = text_of(fat).find(kBundle, bundle + kBundle.size())) {
    uint64_t count = 0, at_entry = bundle + kBundle.size();
    if (!fetch(fat, at_entry, count)) break;
    at_entry += 8;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t entry[3];
      if (!fetch(fat, at_entry, entry)) return std::unexpected(path + ": a truncated bundle");
      const auto& [offset, bytes, length] = entry;
      at_entry += sizeof entry;
      if (length > fat.size() - at_entry || offset > fat.size() - bundle || bytes > fat.size() - bundle - offset) {
        return std::unexpected(path + ": a bundle that points outside");
      }
      if (text_of(fat.subspan(at_entry, length)).ends_with(target) && bytes != 0) {
        result.code_objects_.push_back(fat.subspan(bundle + offset, bytes));
      }
      at_entry += length;
    }
  }
  if (result.code_objects_.empty()) return std::unexpected(path + " has nothing for " + target);
  return result;
}

}  // namespace orrery::corpora
