#include "guest-host/loader/fs_scan.hpp"

#include <gtest/gtest.h>

#include "guest-host/loader/image_loader.hpp"
#include "tests/guest-host/loader/elf_builder.hpp"

namespace orrery::loader {
namespace {

// mov rax, fs:0 (9 bytes) ; ret
const std::vector<uint8_t> kUseOfFs{0x64, 0x48, 0x8B, 0x04, 0x25, 0, 0, 0, 0, 0xC3};

ElfFile with_code(const std::vector<uint8_t>& code) {
  ElfBuilder elf;
  std::memset(elf.bytes.data() + ElfBuilder::kCodeAt, 0xCC, ElfBuilder::kCodeSize);
  std::memcpy(elf.bytes.data() + ElfBuilder::kCodeAt, code.data(), code.size());
  return ElfFile::parse(elf.bytes).value();
}

TEST(FsScan, finds_the_prefix_of_an_access_in_known_code) {
  const auto scan = scan_fs_uses(with_code(kUseOfFs), {{ElfBuilder::kCode, kUseOfFs.size()}});
  EXPECT_EQ(scan.prefixes, std::vector<uint64_t>{ElfBuilder::kCode});
  EXPECT_TRUE(scan.complete());
}

TEST(FsScan, finds_the_prefix_behind_other_prefixes) {
  // data16 data16 mov rax, fs:0, as the linker pads thread-local accesses.
  std::vector<uint8_t> code{0x66, 0x66};
  code.insert(code.end(), kUseOfFs.begin(), kUseOfFs.end());
  const auto scan = scan_fs_uses(with_code(code), {{ElfBuilder::kCode, code.size()}});
  EXPECT_EQ(scan.prefixes, std::vector<uint64_t>{ElfBuilder::kCode + 2});
}

TEST(FsScan, code_that_handles_the_base_itself_cannot_be_patched) {
  const std::vector<uint8_t> code{0xF3, 0x48, 0x0F, 0xAE, 0xC0, 0xC3};  // rdfsbase rax ; ret
  EXPECT_FALSE(scan_fs_uses(with_code(code), {{ElfBuilder::kCode, code.size()}}).complete());
}

TEST(FsScan, a_constant_that_contains_the_byte_is_no_access) {
  // mov eax, 0x64646464 ; ret
  const std::vector<uint8_t> code{0xB8, 0x64, 0x64, 0x64, 0x64, 0xC3};
  const auto scan = scan_fs_uses(with_code(code), {{ElfBuilder::kCode, code.size()}});
  EXPECT_TRUE(scan.prefixes.empty());
  EXPECT_TRUE(scan.complete());
}

TEST(FsScan, what_lies_between_known_ranges_is_never_patched_but_counted) {
  std::vector<uint8_t> code(16, 0x90);
  code.insert(code.end(), kUseOfFs.begin(), kUseOfFs.end());
  code.insert(code.end(), 16, 0x90);
  const auto scan =
      scan_fs_uses(with_code(code), {{ElfBuilder::kCode, 16}, {ElfBuilder::kCode + 16 + kUseOfFs.size(), 16}});
  EXPECT_TRUE(scan.prefixes.empty());
  EXPECT_FALSE(scan.complete());
}

TEST(FsScan, data_inside_a_range_ends_the_decoding_of_that_range) {
  // 0x06 is no instruction in 64-bit code.
  std::vector<uint8_t> code{0x90, 0x06};
  code.insert(code.end(), kUseOfFs.begin(), kUseOfFs.end());
  const auto scan = scan_fs_uses(with_code(code), {{ElfBuilder::kCode, code.size()}});
  EXPECT_TRUE(scan.prefixes.empty());
  EXPECT_EQ(scan.undecodable, 1u);
  EXPECT_FALSE(scan.complete());
}

TEST(CodeRanges, function_symbols_count_and_ranges_outside_of_code_do_not) {
  ElfBuilder elf;
  auto title = parse_title(elf.bytes).value();
  const auto ranges = known_code(title.elf, title.dynamic);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].begin, ElfBuilder::kCode);
  elf.symbol(3).st_value = ElfBuilder::kData;
  auto moved = parse_title(elf.bytes).value();
  EXPECT_TRUE(known_code(moved.elf, moved.dynamic).empty());
  elf.symbol(3) = {25, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, ElfBuilder::kCode, ~0ull};
  auto endless = parse_title(elf.bytes).value();
  EXPECT_TRUE(known_code(endless.elf, endless.dynamic).empty());
}

#ifdef ORRERY_HELLO
TEST(CodeRanges, the_unwind_table_of_a_real_title_covers_all_its_uses_of_fs) {
  auto title = read_title(ORRERY_HELLO).value();
  const auto ranges = known_code(title.elf, title.dynamic);
  EXPECT_GE(ranges.size(), 3u);
  const auto scan = scan_fs_uses(title.elf, ranges);
  EXPECT_GE(scan.prefixes.size(), 1u);
  EXPECT_TRUE(scan.complete());
}
#endif

}  // namespace
}  // namespace orrery::loader
