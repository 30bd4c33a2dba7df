#include "guest-host/loader/image_loader.hpp"

#include <elf.h>
#include <algorithm>
#include <map>

#include "guest-host/loader/import_name.hpp"
#include "guest-host/loader/title_file.hpp"

namespace orrery::loader {

namespace {

constexpr uint64_t kTlsModule = 1;

cpu::TlsTemplate tls_of(const ElfFile& elf) {
  cpu::TlsTemplate tls;
  const auto segment = elf.segment(PT_TLS);
  if (!segment) return tls;
  const auto initial = elf.content(*segment);
  tls.initial.assign(initial.begin(), initial.end());
  tls.size = segment->memory_size;
  tls.alignment = std::max<uint64_t>(segment->alignment, 1);
  // Variant II; the block keeps the segment's place inside its alignment.
  const uint64_t skew = segment->address & (tls.alignment - 1);
  tls.distance = align_up(tls.size + skew, tls.alignment) - skew;
  return tls;
}

class Relocator {
 public:
  Relocator(const Title& title, memory::GuestMemory& memory, const ImportResolver& resolve, const LoadedImage& image)
      : title_(title), memory_(memory), resolve_(resolve), image_(image) {}

  Result<void> apply(const Relocation& r) {
    const uint64_t base = image_.base.value;
    const auto addend = static_cast<uint64_t>(r.addend);
    if (title_.elf.load_of(r.address, 8) == nullptr) {
      return fail(ExitCode::file_malformed, "a relocation of type {} goes to {:#x}, outside the segments", r.type,
                  r.address);
    }
    const GuestAddress place{base + r.address};
    switch (r.type) {
      case R_X86_64_NONE:
        return {};
      case R_X86_64_RELATIVE:
        return store(place, base + addend);
      case R_X86_64_DTPMOD64:
        return store(place, kTlsModule);
      case R_X86_64_64:
      case R_X86_64_GLOB_DAT:
      case R_X86_64_JUMP_SLOT: {
        auto target = address_of(r.symbol);
        if (!target) return std::unexpected(std::move(target.error()));
        // Only this type has a meaning for the addend; a weak import that is absent stays null.
        const bool adds = r.type == R_X86_64_64 && *target != 0;
        return store(place, *target + (adds ? addend : 0));
      }
      case R_X86_64_DTPOFF64:
      case R_X86_64_TPOFF64: {
        auto offset = tls_offset_of(r.symbol);
        if (!offset) return std::unexpected(std::move(offset.error()));
        return store(place, *offset + addend - (r.type == R_X86_64_TPOFF64 ? image_.tls.distance : 0));
      }
      default:
        return fail(ExitCode::file_malformed, "a relocation of the unknown type {} at {:#x}", r.type, r.address);
    }
  }
  size_t imports() const { return imports_.size(); }

 private:
  Result<void> store(GuestAddress place, uint64_t value) { return memory_.write_value(place, value); }

  Result<const Symbol*> symbol(uint32_t index) const {
    if (index < title_.dynamic.symbols.size()) return &title_.dynamic.symbols[index];
    return fail(ExitCode::file_malformed, "a relocation uses symbol {} of {}", index, title_.dynamic.symbols.size());
  }

  Result<uint64_t> tls_offset_of(uint32_t index) const {
    if (index == 0) return 0;
    auto s = symbol(index);
    if (!s) return std::unexpected(std::move(s.error()));
    if ((*s)->section == 0) {
      return fail(ExitCode::file_malformed, "{} is thread-local storage of another module, which is not supported",
                  (*s)->name);
    }
    return (*s)->value;
  }

  Result<uint64_t> address_of(uint32_t index) {
    auto found = symbol(index);
    if (!found) return std::unexpected(std::move(found.error()));
    const Symbol& s = **found;
    if (s.section != 0) return s.section == SHN_ABS ? s.value : image_.base.value + s.value;
    if (const auto known = imports_.find(index); known != imports_.end()) return known->second;
    if (s.name.empty()) return fail(ExitCode::file_malformed, "a relocation uses symbol {} without a name", index);
    ImportRequest request{.library = {}, .name = s.name, .plain = true, .weak = s.weak};
    if (const auto parts = parse_import_name(s.name)) {
      const auto library = title_.dynamic.import_libraries.find(parts->library);
      if (library != title_.dynamic.import_libraries.end()) request.library = library->second;
      request.name = parts->nid;
      request.plain = false;
    }
    auto address = resolve_(request);
    if (!address) return address;
    imports_[index] = *address;
    return address;
  }

  const Title& title_;
  memory::GuestMemory& memory_;
  const ImportResolver& resolve_;
  const LoadedImage& image_;
  std::map<uint32_t, uint64_t> imports_;
};

// Segments may share a guest page: it gets what any of them needs.
Result<void> protect(const ElfFile& elf, memory::GuestMemory& memory, GuestAddress base) {
  std::map<uint64_t, uint32_t> pages;
  for (const Segment& s : elf.loads()) {
    uint32_t bits = 0;
    if (s.flags & PF_R) bits |= memory::kCpuRead | memory::kGpuRead;
    if (s.flags & PF_W) bits |= memory::kCpuRead | memory::kCpuWrite | memory::kGpuRead | memory::kGpuWrite;
    if (s.flags & PF_X) bits |= memory::kCpuRead | memory::kCpuExecute;
    const uint64_t end = s.address + s.memory_size;
    for (uint64_t page = align_down(s.address, kGuestPage); page < end; page += kGuestPage) pages[page] |= bits;
  }
  for (auto it = pages.begin(); it != pages.end();) {
    const auto first = it;
    uint64_t end = first->first;
    while (it != pages.end() && it->first == end && it->second == first->second) {
      end += kGuestPage;
      ++it;
    }
    ORRERY_TRY(memory.protect(base + Bytes{first->first}, {end - first->first}, first->second));
  }
  return {};
}

Result<void> copy_segments(const Title& title, memory::GuestMemory& memory, GuestAddress base,
                           const std::vector<uint64_t>& fs_prefixes) {
  constexpr std::byte kFs{0x64}, kGs{0x65};
  for (const Segment& s : title.elf.loads()) {
    ORRERY_TRY(memory.write(base + Bytes{s.address}, title.elf.content(s)));
  }
  for (const uint64_t at : fs_prefixes) {
    const auto old = title.elf.at(at, 1);
    if (old.empty() || old[0] != kFs) return fail(ExitCode::internal, "no FS prefix at {:#x}", at);
    ORRERY_TRY(memory.write_value(base + Bytes{at}, kGs));
  }
  return {};
}

}  // namespace

Result<Title> parse_title(std::vector<std::byte> bytes) {
  auto inner = unwrap_self(std::move(bytes));
  if (!inner) return std::unexpected(std::move(inner.error()));
  auto elf = ElfFile::parse(std::move(*inner));
  if (!elf) return std::unexpected(std::move(elf.error()));
  auto dynamic = read_dynamic_table(*elf);
  if (!dynamic) return std::unexpected(std::move(dynamic.error()));
  return Title{std::move(*elf), std::move(*dynamic)};
}

Result<Title> read_title(const std::string& path) {
  auto bytes = read_title_file(path);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  auto title = parse_title(std::move(*bytes));
  if (!title) return forward(std::move(title), "reading " + path);
  return title;
}

Result<LoadedImage> load_image(const Title& title, memory::GuestMemory& memory, const ImportResolver& resolve,
                               const std::vector<uint64_t>& fs_prefixes) {
  const ElfFile& elf = title.elf;
  LoadedImage image;
  const uint64_t low = align_down(elf.begin(), kGuestPage);
  const bool fixed = elf.type() == kTypeFixed;
  auto place = memory.map({.kind = memory::MapKind::image,
                           .size = {elf.end() - low},
                           .address = {fixed ? low : 0},
                           .fixed = fixed,
                           .keep_existing = true,
                           .name = "image"});
  if (!place) {
    place.error().code = ExitCode::file_malformed;
    return forward(std::move(place), "making room for the title");
  }
  image.base = {place->value - low};
  image.begin = *place;
  image.end = {image.base.value + elf.end()};
  image.entry = {image.base.value + elf.entry()};
  if (const auto p = elf.segment(kSegmentProcessParameters)) {
    if (elf.load_of(p->address, p->memory_size) != nullptr) image.process_parameters = {image.base.value + p->address};
  }
  image.tls = tls_of(elf);
  ORRERY_TRY(copy_segments(title, memory, image.base, fs_prefixes));
  Relocator relocator(title, memory, resolve, image);
  for (const Relocation& r : title.dynamic.relocations) {
    if (auto done = relocator.apply(r); !done) return forward(std::move(done), "relocating the title");
  }
  image.imports = relocator.imports();
  ORRERY_TRY(protect(elf, memory, image.base));
  return image;
}

}  // namespace orrery::loader
