#include "gpu-service/vulkan/device.hpp"

#include <algorithm>
#include <bit>

#include "gpu-service/vulkan/pipeline_cache.hpp"
#include "tests/gpu-service/vulkan/test_device.hpp"

namespace orrery::vulkan {
namespace {

using Opened = DeviceTest;

TEST_F(Opened, a_device_opens_and_says_what_it_is) {
  const DeviceFacts& facts = device->facts();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_FALSE(facts.driver.empty());
  EXPECT_TRUE(std::has_single_bit(facts.min_subgroup_size));
  EXPECT_LE(facts.min_subgroup_size, facts.max_subgroup_size);
  EXPECT_GE(facts.max_invocations, 128u);
  EXPECT_GE(facts.max_storage_range, 1u << 27);
  EXPECT_TRUE(facts.usable());
}

TEST_F(Opened, lavapipe_of_mesa_22_does_not_fuse_and_cuts_loops_off) {
  if (device->facts().driver.find("Mesa 22.3") == std::string::npos) GTEST_SKIP() << device->facts().driver;
  EXPECT_FALSE(device->facts().fuses_fma);
  EXPECT_TRUE(device->facts().keeps_denormals);
  EXPECT_TRUE(device->facts().rounds_halves);
  EXPECT_TRUE(device->facts().rounds_doubles);
  EXPECT_NEAR(device->facts().loop_limit, 65535, 2) << "loops are cut off";
  EXPECT_EQ(device->facts().max_subgroup_size, 8u);
  EXPECT_NE(device->facts().import_alignment, 0u);
}

TEST_F(Opened, a_wrong_call_is_counted_as_a_validation_message) {
  VkBufferCreateInfo nothing{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};  // size 0, no usage
  VkBuffer buffer = VK_NULL_HANDLE;
  vkCreateBuffer(device->handle(), &nothing, nullptr, &buffer);
  vkDestroyBuffer(device->handle(), buffer, nullptr);
  EXPECT_GE(device->instance().validation_messages(), 1u);
  EXPECT_FALSE(device->instance().first_validation_messages().empty());
  device.reset();  // not held against this test
}

TEST(Devices, a_device_number_that_is_not_there_is_a_named_error) {
  auto options = test_options();
  options.choice.index = 99;
  const auto opened = Device::open(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ExitCode::no_device);
  EXPECT_NE(opened.error().message.find("99"), std::string::npos);
}

TEST(Devices, the_list_is_text_and_json) {
  prefer_lavapipe();
  const auto devices = list_devices();
  ASSERT_TRUE(devices) << devices.error().describe();
  ASSERT_FALSE(devices->empty());
  EXPECT_NE(devices_text(*devices).find(devices->front().name), std::string::npos);
  EXPECT_NE(devices_json(*devices).find("\"usable\":true"), std::string::npos);
  EXPECT_NE(devices_text({}).find("no Vulkan device"), std::string::npos);
  EXPECT_EQ(devices_json({}), "[]\n");
}

DeviceFacts named(const char* name, DeviceType type, std::vector<std::string> missing = {}) {
  DeviceFacts facts;
  facts.name = name;
  facts.type = type;
  facts.missing = std::move(missing);
  return facts;
}

TEST(Choice, a_discrete_device_is_taken_before_the_others) {
  const std::vector<Candidate> all{{VK_NULL_HANDLE, named("lavapipe", DeviceType::cpu)},
                                   {VK_NULL_HANDLE, named("apu", DeviceType::integrated)},
                                   {VK_NULL_HANDLE, named("card", DeviceType::discrete)}};
  EXPECT_EQ(choose(all, {})->facts.name, "card");
  EXPECT_EQ(choose(all, {.cpu = true})->facts.name, "lavapipe");
  EXPECT_EQ(choose(all, {.index = 1})->facts.name, "apu");
}

TEST(Choice, an_unusable_device_is_passed_over_and_named_when_it_is_the_only_one) {
  std::vector<Candidate> all{{VK_NULL_HANDLE, named("old card", DeviceType::discrete, {"shaderInt64"})},
                             {VK_NULL_HANDLE, named("lavapipe", DeviceType::cpu)}};
  EXPECT_EQ(choose(all, {})->facts.name, "lavapipe");
  all.pop_back();
  const auto chosen = choose(all, {});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, ExitCode::no_device);
  EXPECT_NE(chosen.error().message.find("old card) lacks shaderInt64"), std::string::npos) << chosen.error().message;
  EXPECT_FALSE(choose(all, {.cpu = true}));
  EXPECT_FALSE(choose({}, {}));
}

}  // namespace
}  // namespace orrery::vulkan
