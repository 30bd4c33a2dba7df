#include "guest-host/loader/elf_file.hpp"

#include <elf.h>
#include <algorithm>

namespace orrery::loader {

namespace {

constexpr uint64_t kLargestImage = 4ull << 30;
constexpr uint64_t kLargestTls = 16 << 20;
constexpr uint64_t kLargestTlsAlignment = 0x4000;
constexpr uint16_t kMostSegments = 256;

Result<void> check_header(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return fail(ExitCode::file_malformed, "the file is neither an ELF nor a SELF");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64) {
    return fail(ExitCode::wrong_machine, "the ELF is for machine {} ({}-bit); titles are 64-bit x86-64 (machine 62)",
                header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64);
  }
  switch (header.e_type) {
    case kTypeExecutable:
    case kTypeFixed:
    case ET_DYN:
      return {};
    case kTypeLibrary:
      return fail(ExitCode::file_malformed, "the file is a library (type 0xfe18); start the title that uses it");
    default:
      return fail(ExitCode::file_malformed,
                  "ELF type {:#x} is not a title's: 0xfe10, 0xfe00 and position-independent ELFs (3) can be run",
                  header.e_type);
  }
}

Result<void> check_loads(std::vector<Segment>& loads) {
  if (loads.empty()) return fail(ExitCode::file_malformed, "the ELF has no segment to load");
  std::ranges::sort(loads, {}, &Segment::address);
  uint64_t reached = 0;
  for (const Segment& s : loads) {
    if (s.memory_size > kLargestImage || s.address > (1ull << 40)) {
      return fail(ExitCode::file_malformed, "a segment of {:#x} bytes at {:#x} is too large or too far", s.memory_size,
                  s.address);
    }
    if (s.address < reached) {
      return fail(ExitCode::file_malformed, "segments overlap at {:#x}", s.address);
    }
    reached = s.address + s.memory_size;
  }
  if (reached - loads.front().address > kLargestImage) {
    return fail(ExitCode::file_malformed, "the segments span {:#x} bytes, more than 4 GiB",
                reached - loads.front().address);
  }
  return {};
}

}  // namespace

Result<ElfFile> ElfFile::parse(std::vector<std::byte> bytes) {
  ElfFile elf;
  elf.bytes_ = std::move(bytes);
  const FileView file(elf.bytes_);
  const auto header = file.get<Elf64_Ehdr>(0);
  if (!header) return fail(ExitCode::file_malformed, "the file has {} bytes: too short for an ELF", file.size());
  ORRERY_TRY(check_header(*header));
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 || header->e_phnum > kMostSegments) {
    return fail(ExitCode::file_malformed, "{} program headers of {} bytes", header->e_phnum, header->e_phentsize);
  }
  elf.type_ = header->e_type;
  elf.entry_ = header->e_entry;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto p =
        header->e_phoff > file.size() ? std::nullopt : file.get<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!p) return fail(ExitCode::file_malformed, "the program headers are outside the file: it is cut off");
    const Segment s{p->p_type, p->p_flags, p->p_offset, p->p_vaddr, p->p_filesz, p->p_memsz, p->p_align};
    const bool used = s.type == PT_LOAD || s.type == PT_DYNAMIC || s.type == PT_TLS || s.type == PT_GNU_EH_FRAME ||
                      s.type == kSegmentDynamicTables || s.type == kSegmentProcessParameters ||
                      s.type == kSegmentRelocatedData;
    if (!used) continue;
    if (file.bytes(s.offset, s.file_size).size() != s.file_size) {
      return fail(ExitCode::file_malformed, "segment {} (type {:#x}) ends at {:#x}, the file at {:#x}: it is cut off",
                  i, s.type, s.offset + s.file_size, file.size());
    }
    const bool in_memory = s.type == PT_LOAD || s.type == PT_TLS || s.type == kSegmentRelocatedData;
    if (in_memory && s.file_size > s.memory_size) {
      return fail(ExitCode::file_malformed, "segment {} has more bytes in the file than in memory", i);
    }
    if (s.type == PT_LOAD && s.memory_size != 0) elf.loads_.push_back(s);
    if (s.type == PT_TLS) {
      const uint64_t alignment = std::max<uint64_t>(s.alignment, 1);
      if (s.memory_size > kLargestTls || alignment > kLargestTlsAlignment || (alignment & (alignment - 1)) != 0) {
        return fail(ExitCode::file_malformed, "{:#x} bytes of thread-local storage aligned to {:#x}", s.memory_size,
                    s.alignment);
      }
    }
    elf.segments_.push_back(s);
  }
  // Data that is constant after relocation: a segment of its own on the console, a part of one in other files.
  if (const auto data = elf.segment(kSegmentRelocatedData);
      data && data->memory_size != 0 && elf.load_of(data->address, data->memory_size) == nullptr) {
    elf.loads_.push_back(*data);
    elf.loads_.back().flags |= PF_R | PF_W;
  }
  ORRERY_TRY(check_loads(elf.loads_));
  const Segment* const code = elf.load_of(elf.entry_, 1);
  if (code == nullptr || (code->flags & PF_X) == 0) {
    return fail(ExitCode::file_malformed, "the entry point {:#x} is in no executable segment", elf.entry_);
  }
  return elf;
}

std::optional<Segment> ElfFile::segment(uint32_t type) const {
  for (const Segment& s : segments_) {
    if (s.type == type) return s;
  }
  return {};
}

const Segment* ElfFile::load_of(uint64_t address, uint64_t size) const {
  for (const Segment& s : loads_) {
    if (s.holds(address, size)) return &s;
  }
  return nullptr;
}

std::span<const std::byte> ElfFile::at(uint64_t address, uint64_t size) const {
  const Segment* const s = load_of(address, size);
  if (s == nullptr) return {};
  return FileView(content(*s)).bytes(address - s->address, size);
}

}  // namespace orrery::loader
