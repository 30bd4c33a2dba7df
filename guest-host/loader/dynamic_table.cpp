#include "guest-host/loader/dynamic_table.hpp"

#include <elf.h>
#include <algorithm>

namespace orrery::loader {

namespace {

constexpr uint64_t kVendor = 0x61000000;
constexpr uint64_t kMostSymbols = 1 << 20, kMostRelocations = 1 << 24;

struct Tags {
  std::map<uint64_t, uint64_t> values;
  std::vector<std::pair<uint64_t, uint64_t>> repeated;  // needed files, modules, libraries
  std::optional<uint64_t> get(uint64_t tag) const {
    const auto it = values.find(tag);
    if (it == values.end()) return {};
    return it->second;
  }
};

bool may_repeat(uint64_t tag) {
  return tag == DT_NEEDED || (tag >= kVendor + 0x0d && tag <= kVendor + 0x19) ||
         (tag >= kVendor + 0x41 && tag <= kVendor + 0x4f);
}

Result<Tags> collect(FileView section) {
  Tags tags;
  for (uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
    const auto entry = section.get<Elf64_Dyn>(at);
    if (!entry) return fail(ExitCode::file_malformed, "the dynamic section has no end");
    const auto tag = static_cast<uint64_t>(entry->d_tag);
    if (tag == DT_NULL) return tags;
    if (may_repeat(tag)) {
      tags.repeated.emplace_back(tag, entry->d_un.d_val);
    } else {
      tags.values[tag] = entry->d_un.d_val;
    }
  }
}

// The tables behind the tags, wherever the convention puts them.
class Tables {
 public:
  Tables(const ElfFile& elf, const Tags& tags) : elf_(elf), tags_(tags) {
    const auto segment = elf.segment(kSegmentDynamicTables);
    previous_ = segment && tags.get(kVendor + 0x35).has_value();
    if (previous_) dynamic_data_ = FileView(elf.content(*segment));
  }
  bool previous() const { return previous_; }
  // A table by its standard tags and its vendor tags.
  Result<FileView> table(std::string_view what, uint64_t tag, uint64_t size_tag, uint64_t vendor_tag,
                         uint64_t vendor_size_tag) const {
    const auto place = tags_.get(previous_ ? kVendor + vendor_tag : tag);
    const auto size = tags_.get(previous_ ? kVendor + vendor_size_tag : size_tag);
    if (!place || !size || *size == 0) return FileView{};
    return read(what, *place, *size);
  }
  Result<FileView> read(std::string_view what, uint64_t place, uint64_t size) const {
    const auto bytes = previous_ ? dynamic_data_.bytes(place, size) : elf_.at(place, size);
    if (bytes.size() != size) {
      return fail(ExitCode::file_malformed, "the {} at {:#x}+{:#x} is outside the file's segments", what, place, size);
    }
    return FileView(bytes);
  }
  // Number of symbols, from whichever table says it.
  Result<uint64_t> symbol_count() const {
    if (const auto size = tags_.get(kVendor + 0x3f)) return *size / sizeof(Elf64_Sym);
    const auto hash = tags_.get(previous_ ? kVendor + 0x25 : DT_HASH);
    if (!hash) return 0;
    auto head = read("hash table", *hash, 8);
    if (!head) return std::unexpected(std::move(head.error()));
    return *head->get<uint32_t>(4);
  }

 private:
  const ElfFile& elf_;
  const Tags& tags_;
  FileView dynamic_data_;
  bool previous_ = false;
};

Result<void> read_relocations(DynamicTable& out, FileView table) {
  const uint64_t count = table.size() / sizeof(Elf64_Rela);
  if (count > kMostRelocations) return fail(ExitCode::file_malformed, "{} relocations", count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto r = *table.get<Elf64_Rela>(i * sizeof(Elf64_Rela));
    out.relocations.push_back({r.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(r.r_info)),
                               static_cast<uint32_t>(ELF64_R_SYM(r.r_info)), r.r_addend});
  }
  return {};
}

Result<void> read_symbols(DynamicTable& out, const Tables& tables, const Tags& tags, FileView strings) {
  uint64_t count = 0;
  for (const Relocation& r : out.relocations) count = std::max<uint64_t>(count, uint64_t{r.symbol} + 1);
  auto told = tables.symbol_count();
  if (!told) return std::unexpected(std::move(told.error()));
  if (*told != 0 && count > *told) {
    return fail(ExitCode::file_malformed, "a relocation uses symbol {} of {}", count - 1, *told);
  }
  count = std::max(count, *told);
  const auto place = tags.get(tables.previous() ? kVendor + 0x39 : DT_SYMTAB);
  if (!place || count == 0) {
    if (count > 1) return fail(ExitCode::file_malformed, "relocations use symbols, but there is no symbol table");
    return {};
  }
  if (count > kMostSymbols) return fail(ExitCode::file_malformed, "{} symbols", count);
  auto table = tables.read("symbol table", *place, count * sizeof(Elf64_Sym));
  if (!table) return std::unexpected(std::move(table.error()));
  for (uint64_t i = 0; i < count; ++i) {
    const auto s = *table->get<Elf64_Sym>(i * sizeof(Elf64_Sym));
    const auto name = s.st_name == 0 ? std::string_view{} : strings.string(s.st_name);
    if (!name) return fail(ExitCode::file_malformed, "the name of symbol {} is outside the string table", i);
    out.symbols.push_back({.name = std::string(*name),
                           .value = s.st_value,
                           .size = s.st_size,
                           .section = s.st_shndx,
                           .weak = ELF64_ST_BIND(s.st_info) == STB_WEAK,
                           .thread_local_data = ELF64_ST_TYPE(s.st_info) == STT_TLS,
                           .function = ELF64_ST_TYPE(s.st_info) == STT_FUNC});
  }
  return {};
}

// Packed: id << 48 | version << 32 | name (guest-abi.md 1.3).
void read_identity(DynamicTable& out, const Tags& tags, FileView strings) {
  for (const auto& [tag, value] : tags.repeated) {
    const auto name = strings.string(tag == DT_NEEDED ? value : value & 0xffffffff);
    if (!name) continue;  // only names in reports are lost
    const auto id = static_cast<uint16_t>(value >> 48);
    switch (tag) {
      case DT_NEEDED:
        out.needed.emplace_back(*name);
        break;
      case kVendor + 0x0f:
      case kVendor + 0x45:
        out.import_modules[id] = *name;
        break;
      case kVendor + 0x15:
      case kVendor + 0x49:
        out.import_libraries[id] = *name;
        break;
      default:
        break;
    }
  }
}

}  // namespace

Result<DynamicTable> read_dynamic_table(const ElfFile& elf) {
  DynamicTable out;
  const auto segment = elf.segment(PT_DYNAMIC);
  if (!segment) return out;
  auto tags = collect(FileView(elf.content(*segment)));
  if (!tags) return std::unexpected(std::move(tags.error()));
  const Tables tables(elf, *tags);
  out.convention = tables.previous()      ? DynamicConvention::previous
                   : elf.type() == ET_DYN ? DynamicConvention::plain
                                          : DynamicConvention::current;
  auto strings = tables.table("string table", DT_STRTAB, DT_STRSZ, 0x35, 0x37);
  if (!strings) return std::unexpected(std::move(strings.error()));
  auto relocations = tables.table("relocation table", DT_RELA, DT_RELASZ, 0x2f, 0x31);
  if (!relocations) return std::unexpected(std::move(relocations.error()));
  auto jumps = tables.table("jump relocation table", DT_JMPREL, DT_PLTRELSZ, 0x29, 0x2d);
  if (!jumps) return std::unexpected(std::move(jumps.error()));
  ORRERY_TRY(read_relocations(out, *relocations));
  ORRERY_TRY(read_relocations(out, *jumps));
  ORRERY_TRY(read_symbols(out, tables, *tags, *strings));
  read_identity(out, *tags, *strings);
  return out;
}

}  // namespace orrery::loader
