#include "guest-host/loader/code_ranges.hpp"

#include <elf.h>
#include <algorithm>
#include <array>

namespace orrery::loader {

namespace {

// Pointer encodings of unwind tables (LSB, DWARF extensions).
constexpr uint8_t kPointerOmitted = 0xff, kSigned4 = 0x0b, kUnsigned4 = 0x03, kRelativeToPlace = 0x10,
                  kRelativeToTable = 0x30;

// Reads unwind entries of the one encoding that compilers for position-independent x86-64 code use (pcrel sdata4).
class UnwindReader {
 public:
  explicit UnwindReader(const ElfFile& elf) : elf_(elf) {}

  // The function of a frame description entry.
  std::optional<CodeRange> function_of(uint64_t entry) const {
    const auto length = value<uint32_t>(entry);
    const auto back = value<uint32_t>(entry + 4);
    if (!length || !back || *length < 12 || *length == 0xffffffff || *back == 0) return {};
    const uint64_t common = entry + 4 - *back;
    const auto encoding = encoding_of(common);
    if (!encoding || *encoding != (kRelativeToPlace | kSigned4)) return {};
    const auto begin = value<int32_t>(entry + 8);
    const auto size = value<uint32_t>(entry + 12);
    if (!begin || !size) return {};
    return CodeRange{entry + 8 + static_cast<uint64_t>(int64_t{*begin}), *size};
  }

  template <class T>
  std::optional<T> value(uint64_t address) const {
    return FileView(elf_.at(address, sizeof(T))).get<T>(0);
  }

 private:
  // The FDE pointer encoding that a common information entry names: augmentation "zR", "zPLR", ...
  std::optional<uint8_t> encoding_of(uint64_t common) const {
    uint64_t at = common + 8;
    const auto version = value<uint8_t>(at++);
    if (!version || *version != 1) return {};
    std::string augmentation;
    for (;;) {
      const auto c = value<char>(at++);
      if (!c || augmentation.size() > 8) return {};
      if (*c == 0) break;
      augmentation.push_back(*c);
    }
    if (augmentation.empty() || augmentation[0] != 'z') return {};
    for (int i = 0; i < 4; ++i) {  // code and data alignment, return register, augmentation size: LEB128
      for (;;) {
        const auto byte = value<uint8_t>(at++);
        if (!byte) return {};
        if ((*byte & 0x80) == 0) break;
      }
    }
    for (const char c : augmentation.substr(1)) {
      if (c == 'R') return value<uint8_t>(at);
      if (c == 'L') {
        at += 1;
      } else if (c == 'P') {
        const auto encoding = value<uint8_t>(at);
        if (!encoding || ((*encoding & 0x0f) != kSigned4 && (*encoding & 0x0f) != kUnsigned4)) return {};
        at += 5;
      } else if (c != 'S' && c != 'B') {
        return {};
      }
    }
    return {};
  }

  const ElfFile& elf_;
};

void add_unwind_ranges(const ElfFile& elf, std::vector<CodeRange>& ranges) {
  const auto header = elf.segment(PT_GNU_EH_FRAME);
  if (!header) return;
  const FileView table(elf.content(*header));
  const auto encodings = table.get<std::array<uint8_t, 4>>(0);
  if (!encodings || (*encodings)[0] != 1 || (*encodings)[1] == kPointerOmitted || (*encodings)[2] != kUnsigned4 ||
      (*encodings)[3] != (kRelativeToTable | kSigned4)) {
    return;
  }
  const auto count = table.get<uint32_t>(8);
  if (!count) return;
  const UnwindReader reader(elf);
  for (uint64_t i = 0; i < *count; ++i) {
    const auto entry = table.get<int32_t>(12 + 8 * i + 4);
    if (!entry) return;
    if (const auto range = reader.function_of(header->address + static_cast<uint64_t>(int64_t{*entry}))) {
      ranges.push_back(*range);
    }
  }
}

}  // namespace

std::vector<CodeRange> known_code(const ElfFile& elf, const DynamicTable& dynamic) {
  std::vector<CodeRange> ranges;
  add_unwind_ranges(elf, ranges);
  for (const Symbol& s : dynamic.symbols) {
    if (s.function && s.section != 0) ranges.push_back({s.value, s.size});
  }
  std::erase_if(ranges, [&](const CodeRange& r) {
    const Segment* const segment = elf.load_of(r.begin, r.size);
    return r.size == 0 || segment == nullptr || (segment->flags & PF_X) == 0 || elf.at(r.begin, r.size).empty();
  });
  std::ranges::sort(ranges, [](const CodeRange& a, const CodeRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.size > b.size;
  });
  // Of two that overlap the first is kept: decoding starts where a function starts.
  std::vector<CodeRange> kept;
  for (const CodeRange& r : ranges) {
    if (kept.empty() || r.begin >= kept.back().begin + kept.back().size) kept.push_back(r);
  }
  return kept;
}

}  // namespace orrery::loader
