#include "guest-host/hle/nid.hpp"

#include <gtest/gtest.h>

#include "guest-host/hle/sha1.hpp"
#include "guest-host/loader/import_name.hpp"

namespace orrery::hle {
namespace {

std::string hex(std::string_view text) {
  std::string digits;
  for (const uint8_t byte : sha1(text)) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    digits += two;
  }
  return digits;
}

TEST(Sha1, gives_the_published_digests) {
  EXPECT_EQ(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(hex(std::string(1000, 'a')), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
}

TEST(Nid, every_published_name_gives_its_published_identifier) {
  constexpr struct {
    const char* name;
    const char* nid;
  } kPublished[] = {
#include "tests/guest-host/registry/published_nids.inc"
  };
  ASSERT_GT(std::size(kPublished), 100u);
  for (const auto& entry : kPublished) {
    EXPECT_EQ(nid_of(entry.name), entry.nid) << entry.name;
    EXPECT_EQ(known_name(entry.nid), entry.name);
  }
}

TEST(Nid, a_dollar_stands_before_an_identifier_without_a_name) {
  EXPECT_EQ(nid_of("$23LRUSvYu1M"), "23LRUSvYu1M");
  EXPECT_FALSE(known_name("AAAAAAAAAAA"));
}

TEST(ImportName, is_an_identifier_and_two_numbers) {
  const auto name = loader::parse_import_name("wzvqT4UqKX8#B#BA");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->nid, "wzvqT4UqKX8");
  EXPECT_EQ(name->library, 1);
  EXPECT_EQ(name->module, 64);
  for (const char* other : {"", "printf", "wzvqT4UqKX8", "wzvqT4UqKX8#B", "wzvqT4UqKX8##", "wzvqT4UqKX8#B#",
                            "wzvqT4UqKX8#B#=", "wzvqT4UqKX!#A#A", "wzvqT4UqKX8#----#A", "a_long_name_without#A#A"}) {
    EXPECT_FALSE(loader::parse_import_name(other)) << other;
  }
}

}  // namespace
}  // namespace orrery::hle
