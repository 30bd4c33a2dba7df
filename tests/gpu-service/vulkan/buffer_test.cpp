#include "gpu-service/vulkan/buffer.hpp"

#include <cstring>

#include "gpu-service/vulkan/single_run.hpp"
#include "shared/unique_fd.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::vulkan {
namespace {

constexpr uint32_t kAddOne[] = {
#include "add_one.inc"
};

using Buffers = DeviceTest;

uint32_t word(std::span<const std::byte> bytes, size_t index) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + index * 4, 4);
  return value;
}

TEST_F(Buffers, a_mapped_buffer_is_read_and_written_by_a_shader) {
  for (const auto place : {BufferPlace::upload, BufferPlace::shared}) {
    auto buffer = Buffer::create(*device, {4096}, place, "numbers");
    ASSERT_TRUE(buffer) << buffer.error().describe();
    EXPECT_NE(buffer->address().value, 0u);
    std::memset(buffer->mapped().data(), 0, 4096);
    auto pipeline = ComputePipeline::create(*device, {kAddOne, 1, 0, "add one"});
    ASSERT_TRUE(pipeline) << pipeline.error().describe();
    const BoundRange range{&*buffer, {0}, {4096}};
    const uint32_t count = 1000;
    ASSERT_TRUE(run_single(*device, *pipeline, {&range, 1}, std::as_bytes(std::span(&count, 1)), {16, 1, 1}));
    EXPECT_EQ(word(buffer->mapped(), 0), 1u);
    EXPECT_EQ(word(buffer->mapped(), 999), 1u);
    EXPECT_EQ(word(buffer->mapped(), 1000), 0u);
  }
}

TEST_F(Buffers, imported_memory_is_shared_with_the_other_mapping) {
  if (device->facts().import_alignment == 0) GTEST_SKIP() << "this device can't import host memory";
  const uint64_t size = 1 << 20;
  auto file = make_memory_file("arena", {size});
  ASSERT_TRUE(file);
  auto ours = Mapping::of(*file, {0}, {size});
  auto other = Mapping::of(*file, {0}, {size});
  ASSERT_TRUE(ours && other);
  auto buffer = Buffer::import_host(*device, ours->bytes(), "arena");
  ASSERT_TRUE(buffer) << buffer.error().describe();
  const uint32_t before = 41;
  std::memcpy(other->data() + 8, &before, 4);
  auto pipeline = ComputePipeline::create(*device, {kAddOne, 1, 0, "add one"});
  ASSERT_TRUE(pipeline);
  const BoundRange range{&*buffer, {0}, {size}};
  const uint32_t count = 64;
  ASSERT_TRUE(run_single(*device, *pipeline, {&range, 1}, std::as_bytes(std::span(&count, 1)), {1, 1, 1}));
  EXPECT_EQ(word(other->bytes(), 2), 42u);
  EXPECT_EQ(word(other->bytes(), 63), 1u);
}

TEST_F(Buffers, sizes_that_no_buffer_can_have_are_errors) {
  EXPECT_FALSE(Buffer::create(*device, {0}, BufferPlace::device, "none"));
  EXPECT_FALSE(Buffer::create(*device, {UINT64_MAX}, BufferPlace::device, "huge"));
  EXPECT_FALSE(Buffer::create(*device, {device->facts().max_buffer + 1}, BufferPlace::device, "large"));
}

TEST_F(Buffers, host_memory_that_is_not_aligned_is_not_imported) {
  std::vector<std::byte> bytes(1 << 16);
  const auto alignment = std::max<uint64_t>(device->facts().import_alignment, 4096);
  auto* start = reinterpret_cast<std::byte*>(align_up(reinterpret_cast<uintptr_t>(bytes.data()), alignment));
  EXPECT_FALSE(Buffer::import_host(*device, {start + 16, alignment}, "odd start"));
  EXPECT_FALSE(Buffer::import_host(*device, {start, alignment - 4}, "odd size"));
}

}  // namespace
}  // namespace orrery::vulkan
