// A good file cut off at every 64 bytes and with bytes changed: always an error or a load, never a crash.
#include <gtest/gtest.h>
#include <fstream>
#include <iterator>
#include <random>

#include "guest-host/loader/fs_scan.hpp"
#include "guest-host/loader/image_loader.hpp"
#include "tests/guest-host/loader/elf_builder.hpp"

namespace orrery::loader {
namespace {

struct Outcome {
  int loads = 0;
  int errors = 0;
};

void try_file(std::vector<std::byte> bytes, Outcome& outcome) {
  auto title = parse_title(std::move(bytes));
  if (!title) {
    ++outcome.errors;
    ASSERT_TRUE(title.error().code == ExitCode::file_malformed || title.error().code == ExitCode::wrong_machine);
    ASSERT_FALSE(title.error().message.empty());
    return;
  }
  const auto scan = scan_fs_uses(title->elf, known_code(title->elf, title->dynamic));
  auto memory = memory::GuestMemory::create({64 << 20}).value();
  auto image =
      load_image(*title, *memory, [](const ImportRequest&) -> Result<uint64_t> { return 0x1000; }, scan.prefixes);
  ++(image ? outcome.loads : outcome.errors);
  if (!image) {
    ASSERT_EQ(image.error().code, ExitCode::file_malformed) << image.error().describe();
  }
}

void damage(const std::vector<std::byte>& good, size_t flips) {
  Outcome whole, cut, flipped;
  try_file(good, whole);
  ASSERT_EQ(whole.loads, 1);
  for (size_t size = 0; size < good.size(); size += 64) {
    try_file({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, cut);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "cut at " << size;
  }
  EXPECT_GT(cut.errors, 0);
  std::mt19937_64 random(12345);
  for (size_t i = 0; i < flips; ++i) {
    auto bytes = good;
    // Most of the meaning is in the first headers.
    const size_t at = i % 2 == 0 ? random() % std::min<size_t>(bytes.size(), 1024) : random() % bytes.size();
    for (uint64_t n = random() % 4 + 1, j = 0; j < n && at + j < bytes.size(); ++j) {
      bytes[at + j] = i % 3 == 0 ? std::byte{0xff} : static_cast<std::byte>(random());
    }
    try_file(std::move(bytes), flipped);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "change " << i << " at " << at;
  }
  EXPECT_GT(flipped.errors, 0);
  EXPECT_GT(flipped.loads, 0);
}

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(DamagedFile, a_plain_elf) { damage(ElfBuilder().bytes, 4000); }

#ifdef ORRERY_HELLO
TEST(DamagedFile, a_title_in_the_current_form) { damage(file_bytes(ORRERY_HELLO), 1500); }
TEST(DamagedFile, a_title_in_the_previous_form) { damage(file_bytes(ORRERY_HELLO_PREVIOUS), 1500); }
TEST(DamagedFile, a_title_in_a_self) { damage(file_bytes(ORRERY_HELLO_SELF), 1500); }
#else
TEST(DamagedFile, titles) { GTEST_SKIP() << "the titles are not built (ORRERY_TITLES is off)"; }
#endif

}  // namespace
}  // namespace orrery::loader
