#include "guest-host/loader/image_loader.hpp"

#include <gtest/gtest.h>

#include "tests/guest-host/loader/elf_builder.hpp"

namespace orrery::loader {
namespace {

constexpr uint64_t kImportAddress = 0x1234'5678'9abc;

class Loading : public ::testing::Test {
 protected:
  Loading() : memory_(memory::GuestMemory::create({64 << 20}).value()) {}
  Result<LoadedImage> load(const ElfBuilder& elf) {
    auto title = parse_title(elf.bytes);
    if (!title) return std::unexpected(std::move(title.error()));
    return load_image(*title, *memory_,
                      [&](const ImportRequest& import) -> Result<uint64_t> {
                        requests_.push_back(import);
                        return import.weak ? 0 : kImportAddress;
                      },
                      {});
  }
  void expect_error(const ElfBuilder& elf, ExitCode code, std::string_view part) {
    auto image = load(elf);
    ASSERT_FALSE(image) << part;
    EXPECT_EQ(image.error().code, code) << image.error().describe();
    EXPECT_NE(image.error().describe().find(part), std::string::npos) << image.error().describe();
  }
  std::unique_ptr<memory::GuestMemory> memory_;
  std::vector<ImportRequest> requests_;
};

TEST_F(Loading, every_relocation_type_stores_what_the_abi_says) {
  auto image = load(ElfBuilder());
  ASSERT_TRUE(image) << image.error().describe();
  const uint64_t base = image->base.value;
  EXPECT_EQ(image->entry.value, base + ElfBuilder::kCode);
  EXPECT_EQ(image->tls.distance, 32u);  // 24 bytes aligned to 16
  const uint64_t expected[] = {base + 0x10, kImportAddress,  kImportAddress, base + ElfBuilder::kCode + 5, 0, 1,
                               4,           4 - uint64_t{32}};
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(memory_->read_value<uint64_t>({base + ElfBuilder::place(i)}).value(), expected[i]) << i;
  }
}

TEST_F(Loading, an_import_is_asked_for_once_by_its_plain_name) {
  ASSERT_TRUE(load(ElfBuilder()));
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[0].name, "an_import");
  EXPECT_TRUE(requests_[0].plain);
  EXPECT_EQ(requests_[1].name, "a_weak_import");
  EXPECT_TRUE(requests_[1].weak);
}

TEST_F(Loading, code_is_not_writable_and_data_is_not_executable) {
  auto image = load(ElfBuilder());
  ASSERT_TRUE(image);
  EXPECT_TRUE(memory_->covers(image->entry, {1}, memory::kCpuExecute));
  EXPECT_FALSE(memory_->covers(image->entry, {1}, memory::kCpuWrite));
  const GuestAddress data{image->base.value + ElfBuilder::kData};
  EXPECT_TRUE(memory_->covers(data, {1}, memory::kCpuWrite));
  EXPECT_FALSE(memory_->covers(data, {1}, memory::kCpuExecute));
}

TEST_F(Loading, bytes_beyond_the_file_are_zero) {
  auto image = load(ElfBuilder());
  ASSERT_TRUE(image);
  const GuestAddress rest{image->base.value + ElfBuilder::kData + ElfBuilder::kDataSize};
  EXPECT_EQ(memory_->read_value<uint64_t>(rest).value(), 0u);
}

TEST_F(Loading, a_fixed_executable_stays_where_it_was_linked) {
  ElfBuilder elf;
  elf.header().e_type = kTypeFixed;
  auto image = load(elf);
  ASSERT_TRUE(image) << image.error().describe();
  EXPECT_EQ(image->base.value, 0u);
  EXPECT_EQ(image->entry.value, ElfBuilder::kCode);
  auto again = load(elf);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ExitCode::file_malformed);
}

TEST_F(Loading, relocated_data_is_loaded_as_a_segment_of_its_own_and_not_twice) {
  ElfBuilder own;
  own.segment(3) = {0x61000010, PF_R, ElfBuilder::kDataAt, 0x40c000, 0x40c000, 16, 16, 0x4000};
  auto image = load(own);
  ASSERT_TRUE(image) << image.error().describe();
  EXPECT_TRUE(memory_->covers({image->base.value + 0x40c000}, {16}, memory::kCpuRead));
  ElfBuilder part;
  part.segment(3) = {0x61000010, PF_R, ElfBuilder::kDataAt, ElfBuilder::kData, ElfBuilder::kData, 16, 16, 0x4000};
  EXPECT_TRUE(load(part));
}

TEST_F(Loading, another_machine_and_another_type_are_named) {
  ElfBuilder arm;
  arm.header().e_machine = EM_AARCH64;
  expect_error(arm, ExitCode::wrong_machine, "machine 183");
  ElfBuilder narrow;
  narrow.header().e_ident[EI_CLASS] = ELFCLASS32;
  expect_error(narrow, ExitCode::wrong_machine, "32-bit");
  ElfBuilder object;
  object.header().e_type = ET_REL;
  expect_error(object, ExitCode::file_malformed, "type 0x1");
  ElfBuilder library;
  library.header().e_type = kTypeLibrary;
  expect_error(library, ExitCode::file_malformed, "library");
}

TEST_F(Loading, segments_that_overlap_or_are_huge_are_refused) {
  ElfBuilder overlap;
  overlap.segment(1).p_vaddr = ElfBuilder::kCode + 8;
  expect_error(overlap, ExitCode::file_malformed, "overlap");
  ElfBuilder huge;
  huge.segment(1).p_memsz = 1ull << 50;
  expect_error(huge, ExitCode::file_malformed, "too large");
  ElfBuilder wrap;
  wrap.segment(1).p_vaddr = ~0ull - 0x100;
  expect_error(wrap, ExitCode::file_malformed, "too far");
  ElfBuilder more_than_arena;
  more_than_arena.segment(1).p_memsz = 2ull << 30;
  expect_error(more_than_arena, ExitCode::file_malformed, "arena");
  ElfBuilder spread;
  spread.segment(1).p_vaddr = 1ull << 39;
  expect_error(spread, ExitCode::file_malformed, "span");
}

TEST_F(Loading, what_lies_outside_the_file_is_refused) {
  ElfBuilder segment;
  segment.segment(1).p_offset = 1 << 20;
  expect_error(segment, ExitCode::file_malformed, "cut off");
  ElfBuilder headers;
  headers.header().e_phoff = ~0ull - 10;
  expect_error(headers, ExitCode::file_malformed, "program headers");
  ElfBuilder more_in_file;
  more_in_file.segment(1).p_memsz = 1;
  expect_error(more_in_file, ExitCode::file_malformed, "more bytes");
  ElfBuilder entry;
  entry.header().e_entry = ElfBuilder::kData;
  expect_error(entry, ExitCode::file_malformed, "entry point");
}

TEST_F(Loading, relocations_out_of_range_of_unknown_type_or_with_wrong_symbols_are_refused) {
  ElfBuilder range;
  range.relocation(0).r_offset = ElfBuilder::kData + ElfBuilder::kDataSize + 0x1000 - 7;
  expect_error(range, ExitCode::file_malformed, "outside the segments");
  ElfBuilder wrap;
  wrap.relocation(0).r_offset = ~0ull - 3;
  expect_error(wrap, ExitCode::file_malformed, "outside the segments");
  ElfBuilder type;
  type.relocation(0).r_info = ELF64_R_INFO(0, 77);
  expect_error(type, ExitCode::file_malformed, "unknown type 77");
  ElfBuilder symbol;
  symbol.relocation(1).r_info = ELF64_R_INFO(900, R_X86_64_GLOB_DAT);
  expect_error(symbol, ExitCode::file_malformed, "symbol 900");
  ElfBuilder name;
  name.symbol(1).st_name = 0x4000;
  expect_error(name, ExitCode::file_malformed, "outside the string table");
}

TEST_F(Loading, a_dynamic_section_without_end_and_tables_outside_the_file_are_refused) {
  ElfBuilder endless;
  endless.dynamic(endless.tags - 1).d_tag = DT_DEBUG;
  for (size_t i = endless.tags; i < 16; ++i) endless.dynamic(i).d_tag = DT_DEBUG;
  expect_error(endless, ExitCode::file_malformed, "no end");
  ElfBuilder strings;
  strings.dynamic(0).d_un.d_val = 1ull << 62;
  expect_error(strings, ExitCode::file_malformed, "string table");
  ElfBuilder size;
  size.dynamic(5).d_un.d_val = ~0ull;
  expect_error(size, ExitCode::file_malformed, "relocation table");
}

TEST_F(Loading, tls_of_no_sensible_shape_is_refused) {
  ElfBuilder alignment;
  alignment.segment(3).p_align = 3;
  expect_error(alignment, ExitCode::file_malformed, "thread-local");
  ElfBuilder size;
  size.segment(3).p_memsz = 1ull << 40;
  expect_error(size, ExitCode::file_malformed, "thread-local");
}

TEST(TitleFile, a_missing_an_empty_and_a_foreign_file_have_their_own_errors) {
  auto missing = read_title("/nowhere/eboot.bin");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ExitCode::file_missing);
  auto empty = read_title("/dev/null");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ExitCode::file_missing);
  auto foreign = parse_title(std::vector<std::byte>(5000, std::byte{'x'}));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ExitCode::file_malformed);
}

}  // namespace
}  // namespace orrery::loader
