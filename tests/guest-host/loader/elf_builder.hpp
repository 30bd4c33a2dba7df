// A small plain ELF for tests: code, data with a dynamic section, one import, one relocation of each kind we support.
#pragma once

#include <elf.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace orrery::loader {

class ElfBuilder {
 public:
  static constexpr uint64_t kCode = 0x404000, kData = 0x408000, kCodeSize = 0x100, kDataSize = 0x800;
  static constexpr uint64_t kCodeAt = 0x400, kDataAt = 0x800;  // in the file

  ElfBuilder() {
    bytes.resize(kDataAt + kDataSize);
    auto& h = header();
    std::memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = EV_CURRENT;
    h.e_type = ET_DYN;
    h.e_machine = EM_X86_64;
    h.e_version = EV_CURRENT;
    h.e_entry = kCode;
    h.e_phoff = sizeof(Elf64_Ehdr);
    h.e_phentsize = sizeof(Elf64_Phdr);
    h.e_phnum = 4;
    segment(0) = {PT_LOAD, PF_R | PF_X, kCodeAt, kCode, kCode, kCodeSize, kCodeSize, 0x4000};
    segment(1) = {PT_LOAD, PF_R | PF_W, kDataAt, kData, kData, kDataSize, kDataSize + 0x1000, 0x4000};
    segment(2) = {PT_DYNAMIC, PF_R | PF_W, kDataAt + kDynamic, kData + kDynamic, kData + kDynamic, 0x100, 0x100, 8};
    segment(3) = {PT_TLS, PF_R, kDataAt + kTls, kData + kTls, kData + kTls, 8, 24, 16};
    bytes[kCodeAt] = std::byte{0xC3};
    std::memcpy(bytes.data() + kDataAt + kStrings, "\0an_import\0a_weak_import\0a_local", 32);
    symbol(1) = {1, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0};
    symbol(2) = {11, ELF64_ST_INFO(STB_WEAK, STT_NOTYPE), 0, SHN_UNDEF, 0, 0};
    symbol(3) = {25, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, kCode, 1};
    add_relocation(R_X86_64_RELATIVE, 0, 0x10);
    add_relocation(R_X86_64_GLOB_DAT, 1, 0);
    add_relocation(R_X86_64_JUMP_SLOT, 1, 0);
    add_relocation(R_X86_64_64, 3, 5);
    add_relocation(R_X86_64_GLOB_DAT, 2, 0);
    add_relocation(R_X86_64_DTPMOD64, 0, 0);
    add_relocation(R_X86_64_DTPOFF64, 0, 4);
    add_relocation(R_X86_64_TPOFF64, 0, 4);
    tag(DT_STRTAB, kData + kStrings), tag(DT_STRSZ, 0x40), tag(DT_SYMTAB, kData + kSymbols), tag(DT_SYMENT, 24);
    tag(DT_RELA, kData + kRelocations), tag(DT_RELASZ, 24 * relocations), tag(DT_RELAENT, 24);
    tag(0x6100003f, 4 * 24);
    tag(DT_NULL, 0);
  }

  Elf64_Ehdr& header() { return at<Elf64_Ehdr>(0); }
  Elf64_Phdr& segment(size_t i) { return at<Elf64_Phdr>(sizeof(Elf64_Ehdr) + i * sizeof(Elf64_Phdr)); }
  Elf64_Sym& symbol(size_t i) { return at<Elf64_Sym>(kDataAt + kSymbols + 24 * i); }
  Elf64_Rela& relocation(size_t i) { return at<Elf64_Rela>(kDataAt + kRelocations + 24 * i); }
  Elf64_Dyn& dynamic(size_t i) { return at<Elf64_Dyn>(kDataAt + kDynamic + 16 * i); }
  // The place that relocation i writes.
  static constexpr uint64_t place(size_t i) { return kData + kPlaces + 8 * i; }

  std::vector<std::byte> bytes;
  size_t relocations = 0;
  size_t tags = 0;

 private:
  static constexpr uint64_t kDynamic = 0, kTls = 0x100, kStrings = 0x140, kSymbols = 0x180, kRelocations = 0x200,
                            kPlaces = 0x600;
  template <class T>
  T& at(uint64_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset);
  }
  void add_relocation(uint64_t type, uint64_t symbol_index, int64_t addend) {
    relocation(relocations) = {place(relocations), ELF64_R_INFO(symbol_index, type), addend};
    ++relocations;
  }
  void tag(int64_t name, uint64_t value) {
    dynamic(tags).d_tag = name;
    dynamic(tags).d_un.d_val = value;
    ++tags;
  }
};

}  // namespace orrery::loader
