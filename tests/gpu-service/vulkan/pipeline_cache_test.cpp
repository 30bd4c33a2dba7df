#include "gpu-service/vulkan/pipeline_cache.hpp"

#include <sys/stat.h>
#include <filesystem>
#include <fstream>

#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::vulkan {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kAddOne[] = {
#include "add_one.inc"
};

struct PipelineCache : testing::Test {
  fs::path directory = fs::path(testing::TempDir()) / ("orrery-cache-" + std::to_string(getpid()));
  void SetUp() override { fs::remove_all(directory); }
  void TearDown() override { fs::remove_all(directory); }
  // Opens a device with this cache; answers whether the file was taken. Leaves the file written.
  bool life() {
    auto options = test_options();
    options.cache_directory = directory.string();
    auto device = Device::open(options);
    EXPECT_TRUE(device) << device.error().describe();
    path = (*device)->pipeline_cache().path();
    EXPECT_TRUE(ComputePipeline::create(**device, {kAddOne, 1, 0, "add one"}));
    const bool loaded = (*device)->pipeline_cache().loaded();
    EXPECT_EQ((*device)->instance().validation_messages(), 0u);
    return loaded;
  }
  fs::path path;
};

TEST_F(PipelineCache, a_second_life_takes_the_first_ones_file) {
  EXPECT_FALSE(life());
  EXPECT_TRUE(fs::exists(path));
  EXPECT_TRUE(life());
  // Nothing but the published file is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), fs::directory_iterator{}), 1);
}

TEST_F(PipelineCache, a_file_cut_off_at_any_byte_is_ignored) {
  EXPECT_FALSE(life());
  const auto whole = fs::file_size(path);
  for (const uint64_t size : {uint64_t{0}, uint64_t{7}, uint64_t{31}, uint64_t{32}, uint64_t{40}, whole - 1}) {
    if (size >= whole) continue;
    fs::resize_file(path, size);
    EXPECT_FALSE(life()) << size;
  }
}

TEST_F(PipelineCache, a_file_with_one_changed_byte_is_ignored) {
  EXPECT_FALSE(life());
  for (const long at : {0L, 9L, 20L, 33L}) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('\x5a');
    file.close();
    EXPECT_FALSE(life()) << at;
  }
}

TEST_F(PipelineCache, a_pipe_in_the_files_place_is_ignored_and_not_waited_for) {
  EXPECT_FALSE(life());
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(life());
}

TEST_F(PipelineCache, a_directory_that_cannot_be_made_does_not_stop_the_device) {
  std::ofstream(directory) << "a file, not a directory";
  EXPECT_FALSE(life());
}

}  // namespace
}  // namespace orrery::vulkan
