#include "gpu-service/lane_report/title_kernels.hpp"

#include <elf.h>
#include <algorithm>
#include <map>

#include "gpu-service/lane_report/code_object.hpp"

namespace orrery::lane_report {
namespace {

// struct gpu_kernel behind its two first pointers (name, image).
struct KernelRecord {
  uint32_t image_bytes, entry, code_bytes, rsrc1, rsrc2, rsrc3, wave, user_sgprs, lds_bytes, private_bytes;
  int32_t arguments_in_sgprs, private_buffer, dispatch_packet, kernarg, flat_scratch, queue, dispatch_id;
  uint32_t group[3], argument_bytes, argument_count;
};
constexpr uint64_t kPointers = 16;

bool plausible(const KernelRecord& k) {
  if ((k.wave != 32 && k.wave != 64) || k.entry % 256 != 0 || k.image_bytes % 256 != 0 || k.code_bytes == 0 ||
      k.code_bytes % 4 != 0 || k.entry >= k.image_bytes || k.code_bytes > k.image_bytes - k.entry ||
      k.user_sgprs != (k.rsrc2 >> 1 & 31) || k.arguments_in_sgprs < 0 || k.arguments_in_sgprs > 1 ||
      k.argument_count > 256) {
    return false;
  }
  for (const int32_t sgpr : {k.private_buffer, k.dispatch_packet, k.kernarg, k.flat_scratch, k.queue, k.dispatch_id}) {
    if (sgpr < -1 || sgpr > 31) return false;
  }
  return std::ranges::all_of(k.group, [](uint32_t size) { return size <= 1024; });
}

struct Segment {
  uint64_t offset, address, size;
};

std::vector<Segment> segments_of(Bytes bytes) {
  std::vector<Segment> out;
  const auto header = get<Elf64_Ehdr>(bytes, 0);
  if (!header) return out;
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = get<Elf64_Phdr>(bytes, header->e_phoff + uint64_t{i} * sizeof(Elf64_Phdr));
    if (!segment || segment->p_filesz == 0 || part(bytes, segment->p_offset, segment->p_filesz).empty()) continue;
    if (segment->p_type == PT_LOAD || segment->p_type == 0x61000010) {  // PT_SCE_RELRO
      out.push_back({segment->p_offset, segment->p_vaddr, segment->p_filesz});
    }
  }
  return out;
}

std::optional<uint64_t> offset_of(const std::vector<Segment>& segments, uint64_t address) {
  for (const Segment& s : segments) {
    if (address >= s.address && address - s.address < s.size) return s.offset + (address - s.address);
  }
  return std::nullopt;
}

std::optional<uint64_t> address_of(const std::vector<Segment>& segments, uint64_t offset) {
  for (const Segment& s : segments) {
    if (offset >= s.offset && offset - s.offset < s.size) return s.address + (offset - s.offset);
  }
  return std::nullopt;
}

// R_X86_64_RELATIVE relocations, wherever the file keeps its tables: place to value.
std::map<uint64_t, uint64_t> relative_relocations(Bytes bytes) {
  std::map<uint64_t, uint64_t> out;
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += 8) {
    if (*get<uint64_t>(bytes, at + 8) != R_X86_64_RELATIVE) continue;
    const auto entry = *get<Elf64_Rela>(bytes, at);
    if (entry.r_offset % 8 == 0) out.emplace(entry.r_offset, static_cast<uint64_t>(entry.r_addend));
  }
  return out;
}

void add_tables(Bytes bytes, std::vector<ComputeProgram>& out) {
  const std::vector<Segment> segments = segments_of(bytes);
  std::optional<std::map<uint64_t, uint64_t>> relocations;
  for (uint64_t at = 0; at + kPointers + sizeof(KernelRecord) <= bytes.size(); at += 8) {
    const auto record = *get<KernelRecord>(bytes, at + kPointers);
    if (!plausible(record)) continue;
    const auto address = address_of(segments, at);
    if (!address) continue;
    if (!relocations) relocations = relative_relocations(bytes);
    const auto pointer = [&](uint64_t n) -> std::optional<uint64_t> {
      const auto found = relocations->find(*address + n * 8);
      return offset_of(segments, found != relocations->end() ? found->second : *get<uint64_t>(bytes, at + n * 8));
    };
    const auto name = pointer(0), image = pointer(1);
    if (!name || !image || part(bytes, *image, record.image_bytes).empty()) continue;
    const auto text = name_at(bytes, *name);
    if (!text) continue;
    ComputeProgram program;
    program.name = *text;
    program.offset = *image + record.entry;
    program.words = words_of(part(bytes, program.offset, record.image_bytes - record.entry));
    program.wave = record.wave;
    std::copy_n(record.group, 3, program.group.begin());
    program.rsrc1 = record.rsrc1;
    program.rsrc2 = record.rsrc2;
    program.private_bytes = record.private_bytes;
    out.push_back(std::move(program));
  }
}

}  // namespace

bool is_executable(Bytes bytes) {
  const auto magic = get<uint32_t>(bytes, 0);
  return magic == 0x464c457fu || magic == 0x1d3d154fu || magic == 0xeef51454u;  // ELF, SELF of two generations
}

std::vector<ComputeProgram> programs_of_title(Bytes bytes) {
  std::vector<ComputeProgram> out;
  for (uint64_t at = 8; at + sizeof(Elf64_Ehdr) <= bytes.size(); at += 8) {
    if (*get<uint32_t>(bytes, at) != 0x464c457fu || !is_code_object(bytes.subspan(at))) continue;
    if (auto found = programs_of_code_object(bytes.subspan(at), at)) {
      for (ComputeProgram& program : *found) out.push_back(std::move(program));
    }
  }
  // An unencrypted SELF holds its ELF as it is, header first; tables are looked for from there.
  for (uint64_t at = 0; at + sizeof(Elf64_Ehdr) <= std::min<uint64_t>(bytes.size(), 0x2000); at += 16) {
    const auto header = *get<Elf64_Ehdr>(bytes, at);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64) continue;
    add_tables(bytes.subspan(at), out);
    break;
  }
  return out;
}

}  // namespace orrery::lane_report
