#include "gpu-service/lane_report/code_object.hpp"

#include <elf.h>
#include <algorithm>

namespace orrery::lane_report {
namespace {

constexpr uint16_t kMachine = 224;  // EM_AMDGPU
constexpr uint64_t kDescriptorBytes = 64;

struct Section {
  uint32_t type = 0, link = 0;
  uint64_t address = 0, offset = 0, size = 0;
};

std::optional<std::vector<Section>> sections_of(Bytes bytes, const Elf64_Ehdr& header) {
  std::vector<Section> sections;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    const auto raw = get<Elf64_Shdr>(bytes, header.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr));
    if (!raw) return std::nullopt;
    sections.push_back({raw->sh_type, raw->sh_link, raw->sh_addr, raw->sh_offset, raw->sh_size});
  }
  return sections;
}

// File offset of an address, and the bytes from there to the end of its segment.
std::optional<std::pair<uint64_t, uint64_t>> place_of(Bytes bytes, const Elf64_Ehdr& header, uint64_t address) {
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = get<Elf64_Phdr>(bytes, header.e_phoff + uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_LOAD || address < segment->p_vaddr ||
        address - segment->p_vaddr >= segment->p_filesz || segment->p_filesz > bytes.size() ||
        segment->p_offset > bytes.size() - segment->p_filesz) {
      continue;
    }
    const uint64_t inside = address - segment->p_vaddr;
    return std::pair(segment->p_offset + inside, segment->p_filesz - inside);
  }
  return std::nullopt;
}

// An unsigned MessagePack integer at `at`, which moves behind it.
std::optional<uint32_t> integer_at(Bytes bytes, uint64_t& at) {
  const auto tag = get<uint8_t>(bytes, at);
  if (!tag) return std::nullopt;
  ++at;
  if (*tag < 0x80) return *tag;
  const uint32_t size = *tag == 0xcc ? 1 : *tag == 0xcd ? 2 : *tag == 0xce ? 4 : 0;
  if (size == 0 || part(bytes, at, size).empty()) return std::nullopt;
  uint32_t value = 0;
  for (uint32_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  at += size;
  return value;
}

// Position behind the first occurrence of `text` in [from, to), or nothing.
std::optional<uint64_t> behind(Bytes bytes, std::string_view text, uint64_t from, uint64_t to) {
  const auto wanted = std::as_bytes(std::span(text));
  const auto area = part(bytes, from, std::min<uint64_t>(to, bytes.size()) - std::min<uint64_t>(from, bytes.size()));
  const auto found = std::ranges::search(area, wanted);
  if (found.empty()) return std::nullopt;
  return from + static_cast<uint64_t>(found.end() - area.begin());
}

// .reqd_workgroup_size of the kernel whose ".symbol" is NAME.kd. A kernel's map is sorted by key: .reqd_workgroup_size
// comes before .symbol, and the previous kernel's .symbol before both.
std::array<uint32_t, 3> required_group(Bytes bytes, const std::string& symbol) {
  const auto end =
      behind(bytes,
             ".symbol" + std::string(1, static_cast<char>(symbol.size() < 32 ? 0xa0 + symbol.size() : 0xd9)) +
                 (symbol.size() < 32 ? "" : std::string(1, static_cast<char>(symbol.size()))) + symbol,
             0, bytes.size());
  if (!end) return {};
  uint64_t from = 0;
  while (const auto next = behind(bytes, ".symbol", from, *end - symbol.size() - 8)) from = *next;
  const auto key = behind(bytes, ".reqd_workgroup_size", from, *end);
  if (!key || get<uint8_t>(bytes, *key) != 0x93) return {};
  uint64_t at = *key + 1;
  std::array<uint32_t, 3> group{};
  for (uint32_t& size : group) {
    const auto value = integer_at(bytes, at);
    if (!value) return {};
    size = *value;
  }
  return group;
}

// A register of PAL metadata: its number as a MessagePack uint16 key, then its value.
std::optional<uint32_t> pal_register(Bytes bytes, uint16_t number) {
  const char key[] = {static_cast<char>(0xcd), static_cast<char>(number >> 8), static_cast<char>(number)};
  const auto registers = behind(bytes, ".registers", 0, bytes.size());
  if (!registers) return std::nullopt;
  auto at = behind(bytes, {key, 3}, *registers, bytes.size());
  return at ? integer_at(bytes, *at) : std::nullopt;
}

}  // namespace

bool is_code_object(Bytes bytes) {
  const auto header = get<Elf64_Ehdr>(bytes, 0);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_machine == kMachine;
}

std::expected<std::vector<ComputeProgram>, std::string> programs_of_code_object(Bytes bytes, uint64_t at) {
  const auto header = get<Elf64_Ehdr>(bytes, 0);
  if (!header || !is_code_object(bytes)) return std::unexpected("no AMDGPU code object");
  const auto sections = sections_of(bytes, *header);
  if (!sections) return std::unexpected("a code object whose sections lie outside the file");
  std::vector<ComputeProgram> programs;
  std::vector<std::string> seen;
  for (const Section& table : *sections) {
    if ((table.type != SHT_DYNSYM && table.type != SHT_SYMTAB) || table.link >= sections->size()) continue;
    const uint64_t names = (*sections)[table.link].offset;
    for (uint64_t entry = 0; entry + sizeof(Elf64_Sym) <= table.size; entry += sizeof(Elf64_Sym)) {
      const auto symbol = get<Elf64_Sym>(bytes, table.offset + entry);
      if (!symbol) return std::unexpected("a code object whose symbols lie outside the file");
      const auto name = name_at(bytes, names + symbol->st_name);
      if (!name || symbol->st_shndx == SHN_UNDEF || std::ranges::find(seen, *name) != seen.end()) continue;
      ComputeProgram program;
      std::optional<std::pair<uint64_t, uint64_t>> place;
      if (name->ends_with(".kd")) {
        const auto descriptor = place_of(bytes, *header, symbol->st_value);
        if (!descriptor || descriptor->second < kDescriptorBytes)
          return std::unexpected(*name + " lies outside the file");
        const uint64_t kd = descriptor->first;
        const auto lds = *get<uint32_t>(bytes, kd);
        program.private_bytes = *get<uint32_t>(bytes, kd + 4);
        program.rsrc1 = *get<uint32_t>(bytes, kd + 0x30);
        // LDS_SIZE is the loader's: units of 128 dwords.
        program.rsrc2 = (*get<uint32_t>(bytes, kd + 0x34) & ~(0x1ffu << 15)) | ((lds + 511) / 512 & 0x1ff) << 15;
        program.wave = (*get<uint16_t>(bytes, kd + 0x38) >> 10 & 1) != 0 ? 32 : 64;  // ENABLE_WAVEFRONT_SIZE32
        program.name = name->substr(0, name->size() - 3);
        program.group = required_group(bytes, *name);
        place = place_of(bytes, *header, symbol->st_value + *get<uint64_t>(bytes, kd + 0x10));
      } else if (*name == "_amdgpu_cs_main") {
        const auto rsrc1 = pal_register(bytes, 0x2e12), rsrc2 = pal_register(bytes, 0x2e13);
        if (!rsrc1 || !rsrc2) return std::unexpected("a pipeline without COMPUTE_PGM_RSRC1 and 2 in its metadata");
        program.rsrc1 = *rsrc1;
        program.rsrc2 = *rsrc2;
        program.name = *name;
        const auto key = behind(bytes, ".wavefront_size", 0, bytes.size());
        uint64_t value = key.value_or(bytes.size());
        program.wave = integer_at(bytes, value) == 32u ? 32 : 64;
        place = place_of(bytes, *header, symbol->st_value);
      } else {
        continue;
      }
      if (!place) return std::unexpected(program.name + "'s code lies outside the file");
      program.offset = at + place->first;
      program.words = words_of(part(bytes, place->first, place->second));
      seen.push_back(*name);
      programs.push_back(std::move(program));
    }
  }
  if (programs.empty()) return std::unexpected("a code object without a compute program");
  return programs;
}

}  // namespace orrery::lane_report
