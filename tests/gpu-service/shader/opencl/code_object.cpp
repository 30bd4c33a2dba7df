#include "tests/gpu-service/shader/opencl/code_object.hpp"

#include <elf.h>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace orrery::opencl {
namespace {

constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA: MessagePack

template <class T>
bool fetch(std::span<const std::byte> bytes, uint64_t offset, T& out) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

bool inside(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

// What the metadata says of group sizes, by kernel name.
void read_metadata(std::span<const std::byte> notes, std::vector<Kernel>& kernels) {
  std::map<std::string, Kernel*> by_name;
  for (Kernel& kernel : kernels) by_name[kernel.name] = &kernel;
  Elf64_Nhdr note;
  for (uint64_t at = 0; fetch(notes, at, note);) {
    const uint64_t described = at + sizeof note + (note.n_namesz + 3) / 4 * 4;
    if (!inside(notes, described, note.n_descsz)) return;
    if (note.n_type == kMetadataNote) {
      const auto* first = reinterpret_cast<const uint8_t*>(notes.data() + described);
      const auto metadata = nlohmann::json::from_msgpack(first, first + note.n_descsz, true, false);
      if (!metadata.is_object() || !metadata.contains("amdhsa.kernels")) return;
      for (const auto& described_kernel : metadata["amdhsa.kernels"]) {
        const auto found = by_name.find(described_kernel.value(".name", ""));
        if (found == by_name.end()) continue;
        found->second->most_threads = described_kernel.value(".max_flat_workgroup_size", 0u);
        for (const auto& argument : described_kernel.value(".args", nlohmann::json::array())) {
          const std::string kind = argument.value(".value_kind", "");
          const uint32_t at = argument.value(".offset", 0u);
          if (!kind.starts_with("hidden_")) {
            found->second->arguments.push_back({at, argument.value(".size", 0u), kind == "dynamic_shared_pointer"});
          } else if (found->second->hidden_arguments == 0) {
            found->second->hidden_arguments = at;
          }
        }
        if (described_kernel.contains(".reqd_workgroup_size")) {
          found->second->required_group = described_kernel[".reqd_workgroup_size"];
        }
      }
    }
    at = described + (note.n_descsz + 3) / 4 * 4;
  }
}

Kernel kernel_of(std::string name, const std::byte* descriptor, uint64_t at) {
  Kernel kernel;
  kernel.name = std::move(name);
  int64_t entry = 0;
  std::memcpy(&kernel.group_bytes, descriptor + 0, 4);
  std::memcpy(&kernel.private_bytes, descriptor + 4, 4);
  std::memcpy(&kernel.kernarg_bytes, descriptor + 8, 4);
  std::memcpy(&entry, descriptor + 16, 8);
  std::memcpy(&kernel.rsrc3, descriptor + 0x2c, 4);
  std::memcpy(&kernel.rsrc1, descriptor + 0x30, 4);
  std::memcpy(&kernel.rsrc2, descriptor + 0x34, 4);
  std::memcpy(&kernel.properties, descriptor + 0x38, 2);
  kernel.entry = at + static_cast<uint64_t>(entry);
  return kernel;
}

}  // namespace

std::expected<CodeObject, std::string> read_code_object(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (!fetch(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::unexpected("no ELF");
  CodeObject object;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!fetch(bytes, header.e_phoff + i * sizeof segment, segment)) return std::unexpected("truncated code object");
    if (segment.p_type != PT_LOAD) continue;
    if (!inside(bytes, segment.p_offset, segment.p_filesz) || segment.p_filesz > segment.p_memsz ||
        segment.p_memsz > 256u << 20 || segment.p_vaddr > 256u << 20) {
      return std::unexpected("a segment outside the file");
    }
    object.image.resize(std::max(object.image.size(), segment.p_vaddr + segment.p_memsz));
    std::memcpy(object.image.data() + segment.p_vaddr, bytes.data() + segment.p_offset, segment.p_filesz);
  }
  std::map<std::string, uint64_t> sizes;
  std::vector<std::span<const std::byte>> notes;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, strings;
    if (!fetch(bytes, header.e_shoff + i * sizeof section, section)) return std::unexpected("truncated sections");
    if (section.sh_type == SHT_NOBITS) continue;
    if (!inside(bytes, section.sh_offset, section.sh_size)) return std::unexpected("a section outside the file");
    if (section.sh_type == SHT_RELA && section.sh_size != 0) object.relocated = true;
    if (section.sh_type == SHT_NOTE) notes.push_back(bytes.subspan(section.sh_offset, section.sh_size));
    if (section.sh_type != SHT_DYNSYM) continue;
    if (!fetch(bytes, header.e_shoff + section.sh_link * sizeof strings, strings) ||
        !inside(bytes, strings.sh_offset, strings.sh_size) || strings.sh_size == 0) {
      return std::unexpected("no names");
    }
    const auto* text = reinterpret_cast<const char*>(bytes.data() + strings.sh_offset);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!fetch(bytes, section.sh_offset + at, symbol) || symbol.st_name >= strings.sh_size) break;
      std::string name(text + symbol.st_name, strnlen(text + symbol.st_name, strings.sh_size - symbol.st_name));
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) sizes[name] = symbol.st_size;
      if (!name.ends_with(".kd") || !inside(object.image, symbol.st_value, 64)) continue;
      name.resize(name.size() - 3);
      Kernel kernel = kernel_of(std::move(name), object.image.data() + symbol.st_value, symbol.st_value);
      if (kernel.entry < object.image.size()) object.kernels.push_back(std::move(kernel));
    }
  }
  if (object.kernels.empty()) return std::unexpected("no kernel");
  for (Kernel& kernel : object.kernels) {
    const auto size = sizes.find(kernel.name);
    if (size != sizes.end()) kernel.code_bytes = std::min(size->second, object.image.size() - kernel.entry);
  }
  for (const auto note : notes) read_metadata(note, object.kernels);
  return object;
}

std::expected<CodeObject, std::string> read_code_object(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return read_code_object(std::as_bytes(std::span(bytes)));
}

}  // namespace orrery::opencl
