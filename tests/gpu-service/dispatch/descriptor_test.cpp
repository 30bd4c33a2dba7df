#include <gtest/gtest.h>
#include <cstring>
#include <map>

#include "gpu-service/dispatch/buffer_descriptor.hpp"
#include "gpu-service/dispatch/descriptor_source.hpp"
#include "gpu-service/dispatch/image_extent.hpp"
#include "gpu-service/dispatch/pending_writes.hpp"

namespace orrery::dispatch {
namespace {

using Words = std::array<uint32_t, 4>;
using Source = shader::DescriptorSource;

TEST(BufferDescriptor, fields_are_where_the_isa_document_has_them) {
  // base 0x1234_89abcdef, stride 0x2aaa, cache swizzle; records 1000; format 0x16, index stride 2, add tid, OOB 3, type
  // 0
  const auto d = decode_descriptor(
      {0x89abcdef, 0x1234 | 0x2aaau << 16 | 1u << 30, 1000, 0x16u << 12 | 2u << 21 | 1u << 23 | 3u << 28});
  EXPECT_EQ(d.base.value, 0x123489abcdefu);
  EXPECT_EQ(d.stride, 0x2aaau);
  EXPECT_TRUE(d.cache_swizzle);
  EXPECT_FALSE(d.swizzle);
  EXPECT_EQ(d.records, 1000u);
  EXPECT_EQ(d.format, 0x16u);
  EXPECT_EQ(d.index_stride, 2u);
  EXPECT_TRUE(d.add_tid);
  EXPECT_EQ(d.out_of_bounds, 3u);
  EXPECT_EQ(d.type, 0u);
  EXPECT_EQ(decode_descriptor({0, 1u << 31, 0, 2u << 30}).type, 2u);
  EXPECT_TRUE(decode_descriptor({0, 1u << 31, 0, 0}).swizzle);
}

TEST(BufferDescriptor, the_extent_follows_the_bounds_check) {
  const auto extent = [](uint32_t stride, uint32_t records, uint32_t check, uint32_t more = 0) {
    return bindable_extent(decode_descriptor({0x1000, stride << 16 | more, records, check << 28})).bytes;
  };
  EXPECT_EQ(extent(0, 100, 0), 100u);
  EXPECT_EQ(extent(16, 100, 0), 1600u);
  EXPECT_EQ(extent(16, 100, 3), 100u);
  EXPECT_EQ(extent(16383, UINT32_MAX, 0), 16383ull * UINT32_MAX);
  EXPECT_EQ(extent(16, 0, 1), 0u);
  EXPECT_FALSE(extent(16, 100, 1));
  EXPECT_FALSE(extent(16, 100, 2));
  EXPECT_FALSE(extent(16, 100, 0, 1u << 31));
  EXPECT_FALSE(bindable_extent(decode_descriptor({0, 0, 1, 1u << 30})).bytes);
  EXPECT_EQ(bindable_extent(decode_descriptor({0, 8u << 16, 5, 3u << 28})).bytes, 5u);
  EXPECT_FALSE(bindable_extent(decode_descriptor({0, 8u << 16, 5, 3u << 28}), true).bytes);
  EXPECT_EQ(bindable_extent(decode_descriptor({0, 8u << 16, 5, 0}), true).bytes, 40u);
}

// Memory of a few known places.
struct Places {
  std::map<uint64_t, std::vector<uint32_t>> at;
  bool operator()(GuestAddress address, std::span<std::byte> out) const {
    const auto found = at.find(address.value);
    if (found == at.end() || found->second.size() * 4 != out.size()) return false;
    std::memcpy(out.data(), found->second.data(), out.size());
    return true;
  }
};

TEST(DescriptorSource, user_data_is_the_descriptor_without_loads) {
  const DispatchState dispatch{.user_data = {0, 0, 1, 2, 3, 4}};
  EXPECT_EQ(read_descriptor(Source::user(2), dispatch, Places{}).value(), (Words{1, 2, 3, 4}));
  EXPECT_EQ(read_descriptor(Source::user(12), dispatch, Places{}).value(), (Words{0, 0, 0, 0}));
  EXPECT_FALSE(read_descriptor(Source::user(13), dispatch, Places{}));
  EXPECT_FALSE(read_descriptor(Source::user(UINT32_MAX), dispatch, Places{}));
}

TEST(DescriptorSource, a_chain_of_pointers_is_followed) {
  const DispatchState dispatch{.user_data = {0x1000, 2}};
  const Places places{{{0x200001010, {0x5000, 7}}, {0x700005020, {9, 8, 7, 6}}}};
  EXPECT_EQ(read_descriptor(Source::chain(0, {0x10, 0x20}), dispatch, places).value(), (Words{9, 8, 7, 6}));
  const auto missing = read_descriptor(Source::chain(0, {0x18, 0x20}), dispatch, places);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().find("0x200001018"), std::string::npos);
  EXPECT_FALSE(read_descriptor(Source::chain(15, {0}), dispatch, places));
}

TEST(PendingWrites, known_ranges_and_work_that_may_write_anywhere_are_told_apart) {
  PendingWrites pending;
  EXPECT_FALSE(pending.may_touch({0, UINT64_MAX}));
  pending.add({100, 200});
  EXPECT_TRUE(pending.may_touch({199, 300}));
  EXPECT_FALSE(pending.may_touch({200, 300}));
  pending.add_anything();
  EXPECT_TRUE(pending.may_touch({200, 300}));
  EXPECT_FALSE(pending.names({200, 300}));
  pending.clear();
  EXPECT_FALSE(pending.may_touch({100, 200}));
}

TEST(ImageExtent, reaches_from_the_first_layer_to_the_last_byte_of_the_last) {
  constexpr uint32_t k1D = 8, k2D = 9, k3D = 10, k2DArray = 13;
  const auto extent = [](uint32_t type, uint32_t format, uint32_t width, uint32_t height, uint32_t depth,
                         uint32_t first_layer, uint32_t max_mip, uint32_t tiling = 0) {
    return image_extent({0x12345600, 0x40 | format << 20 | (width - 1) << 30, (width - 1) >> 2 | (height - 1) << 14,
                         0xfac | tiling << 20 | type << 28, depth | first_layer << 16, max_mip << 4, 0, 0});
  };
  const GuestAddress base{0x12345600ull << 8 | 0x40ull << 40};
  // Rows of 256 bytes.
  EXPECT_EQ(extent(k2D, 56, 7, 5, 0, 0, 0), (memory::GuestSpan{base, {5 * 256}}));
  EXPECT_EQ(extent(k1D, 77, 17, 1, 0, 0, 0), (memory::GuestSpan{base, {512}}));
  // Levels of 7 x 5, 3 x 2 and 1 x 1 texels in each slice.
  EXPECT_EQ(extent(k2DArray, 56, 7, 5, 3, 2, 2), (memory::GuestSpan{base, {4 * 8 * 256}}));
  EXPECT_EQ(extent(k3D, 56, 7, 5, 3, 0, 0), (memory::GuestSpan{base, {4 * 5 * 256}}));
  EXPECT_EQ(extent(k2D, 56, 129, 128, 0, 0, 0, 27), (memory::GuestSpan{base, {2 * 65536}}));
  // Nothing is touched through what is refused.
  EXPECT_EQ(extent(k2D, 74, 7, 5, 0, 0, 0), std::nullopt);
  EXPECT_EQ(extent(2, 56, 7, 5, 0, 0, 0), std::nullopt);
}

}  // namespace
}  // namespace orrery::dispatch
