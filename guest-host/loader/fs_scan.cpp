#include "guest-host/loader/fs_scan.hpp"

#include <elf.h>
#include <Zydis/Zydis.h>
#include <algorithm>

namespace orrery::loader {

namespace {

constexpr uint8_t kFsPrefix = 0x64;

class Scanner {
 public:
  explicit Scanner(const ElfFile& elf) : elf_(elf) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  // Decodes one range; answers how many of its bytes are instructions.
  uint64_t scan_code(const CodeRange& range, FsScan& scan) const {
    const auto bytes = elf_.at(range.begin, range.size);
    uint64_t at = 0;
    while (at < bytes.size()) {
      ZydisDecodedInstruction instruction;
      if (!decode(bytes.subspan(at), instruction)) {
        ++scan.undecodable;
        return at;
      }
      // Code that handles the base itself would see the host's; patching prefixes does not help it.
      if (handles_base(instruction)) ++scan.doubtful;
      if (uses_fs(instruction)) {
        for (uint8_t i = 0; i < instruction.raw.prefix_count; ++i) {
          if (instruction.raw.prefixes[i].value == kFsPrefix) scan.prefixes.push_back(range.begin + at + i);
        }
      }
      at += instruction.length;
    }
    return at;
  }

  // Counts places in unknown bytes where a use of FS could start.
  void scan_unknown(uint64_t begin, uint64_t end, FsScan& scan) const {
    if (begin >= end) return;
    const auto bytes = elf_.at(begin, end - begin);
    for (uint64_t at = 0; at < bytes.size(); ++at) {
      if (bytes[at] != std::byte{kFsPrefix}) continue;
      ZydisDecodedInstruction instruction;
      if (decode(bytes.subspan(at), instruction) && uses_fs(instruction)) ++scan.doubtful;
    }
  }

 private:
  bool decode(std::span<const std::byte> bytes, ZydisDecodedInstruction& instruction) const {
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, nullptr, bytes.data(), bytes.size(), &instruction));
  }
  static bool uses_fs(const ZydisDecodedInstruction& instruction) {
    return (instruction.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS) != 0;
  }

  static bool handles_base(const ZydisDecodedInstruction& instruction) {
    return instruction.mnemonic == ZYDIS_MNEMONIC_RDFSBASE || instruction.mnemonic == ZYDIS_MNEMONIC_WRFSBASE;
  }

  const ElfFile& elf_;
  ZydisDecoder decoder_{};
};

}  // namespace

FsScan scan_fs_uses(const ElfFile& elf, const std::vector<CodeRange>& code) {
  FsScan scan;
  const Scanner scanner(elf);
  for (const Segment& segment : elf.loads()) {
    if ((segment.flags & PF_X) == 0) continue;
    uint64_t reached = segment.address;
    const uint64_t end = segment.address + segment.file_size;
    for (const CodeRange& range : code) {
      if (!segment.holds(range.begin, range.size)) continue;
      scanner.scan_unknown(reached, range.begin, scan);
      reached = range.begin + scanner.scan_code(range, scan);
    }
    scanner.scan_unknown(reached, end, scan);
  }
  std::ranges::sort(scan.prefixes);
  return scan;
}

}  // namespace orrery::loader
