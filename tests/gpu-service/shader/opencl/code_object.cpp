#include "tests/gpu-service/shader/opencl/code_object.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace orrery::opencl {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
bool fetch(const std::string& bytes, uint64_t offset, T& out) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return true;
}

std::string quoted(const std::string& word) { return "'" + word + "'"; }

}  // namespace

std::expected<CodeObject, std::string> read_code_object(const std::string& file) {
  const std::string bytes = read_file(file);
  Elf64_Ehdr header;
  if (!fetch(bytes, 0, header)) return std::unexpected("no code object in " + file);
  CodeObject object;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!fetch(bytes, header.e_phoff + i * sizeof segment, segment)) return std::unexpected("truncated code object");
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_offset + segment.p_filesz > bytes.size() || segment.p_vaddr + segment.p_memsz > 64u << 20) {
      return std::unexpected("a segment outside the file");
    }
    object.image.resize(std::max(object.image.size(), segment.p_vaddr + segment.p_memsz));
    std::memcpy(object.image.data() + segment.p_vaddr, bytes.data() + segment.p_offset, segment.p_filesz);
  }
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!fetch(bytes, header.e_shoff + i * sizeof section, section)) return std::unexpected("truncated sections");
    if (section.sh_type == SHT_RELA && section.sh_size != 0) return std::unexpected("dynamic relocations");
    if (section.sh_type != SHT_DYNSYM) continue;
    Elf64_Shdr strings;
    if (!fetch(bytes, header.e_shoff + section.sh_link * sizeof strings, strings)) return std::unexpected("no names");
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!fetch(bytes, section.sh_offset + at, symbol)) break;
      std::string name(bytes.c_str() + strings.sh_offset + symbol.st_name);
      if (!name.ends_with(".kd") || symbol.st_value + 64 > object.image.size()) continue;
      name.resize(name.size() - 3);
      const std::byte* kd = object.image.data() + symbol.st_value;
      Kernel kernel;
      kernel.name = std::move(name);
      int64_t entry = 0;
      std::memcpy(&kernel.group_bytes, kd + 0, 4);
      std::memcpy(&kernel.private_bytes, kd + 4, 4);
      std::memcpy(&kernel.kernarg_bytes, kd + 8, 4);
      std::memcpy(&entry, kd + 16, 8);
      std::memcpy(&kernel.rsrc3, kd + 0x2c, 4);
      std::memcpy(&kernel.rsrc1, kd + 0x30, 4);
      std::memcpy(&kernel.rsrc2, kd + 0x34, 4);
      std::memcpy(&kernel.properties, kd + 0x38, 2);
      kernel.entry = symbol.st_value + static_cast<uint64_t>(entry);
      // The metadata is MessagePack; a required group size is the key's text and an array of three integers.
      const std::string key = "." + std::string("reqd_workgroup_size");
      const size_t described = bytes.find(key);
      if (described != std::string::npos) {
        const auto* p = reinterpret_cast<const uint8_t*>(bytes.data()) + described + key.size();
        if (*p++ == 0x93) {
          for (auto& size : kernel.required_group) {
            if (*p < 0x80)
              size = *p++;
            else if (*p == 0xcc)
              size = p[1], p += 2;
            else if (*p == 0xcd)
              size = static_cast<uint32_t>(p[1] << 8 | p[2]), p += 3;
          }
        }
      }
      object.kernels.push_back(std::move(kernel));
    }
  }
  if (object.kernels.empty()) return std::unexpected("no kernel in " + file);
  return object;
}

std::expected<CodeObject, std::string> compile(const std::string& source_file, const std::string& folder, uint32_t wave,
                                               const std::string& options, uint32_t version) {
  const std::string base = folder + "/program";
  const std::string standard = version >= 20 ? "CL2.0" : "CL1.2";
  const std::string command = fmt::format(
      "clang-19 -x cl -cl-std={} -Xclang -finclude-default-header -target amdgcn-amd-amdhsa -mcpu=gfx1013 {} -nogpulib "
      "-O2 "
      "-Xclang -mlink-builtin-bitcode -Xclang /usr/lib/clc/amdgcn--amdhsa.bc -w {} -I {} -c {} -o {}.o 2>{}.log "
      "</dev/null "
      "&& ld.lld-19 -shared {}.o -o {}.co 2>>{}.log",
      standard, wave == 64 ? "-mwavefrontsize64" : "", options,
      quoted(std::filesystem::path(source_file).parent_path().string()), quoted(source_file), base, base, base, base,
      base);
  if (std::system(command.c_str()) != 0) {
    std::string log = read_file(base + ".log");
    const size_t error = log.find("error:");
    if (error != std::string::npos) log.erase(0, error);
    return std::unexpected("does not compile: " + log.substr(0, log.find('\n')));
  }
  return read_code_object(base + ".co");
}

}  // namespace orrery::opencl
