// One validated lavapipe device for a test program; lavapipe is chosen unless the environment names another driver.
#pragma once

#include <gtest/gtest.h>
#include <cstdlib>
#include <memory>

#include "gpu-service/vulkan/device.hpp"

namespace orrery::vulkan {

inline void prefer_lavapipe() { setenv("VK_ICD_FILENAMES", "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", 0); }

// A driver that is loaded and unloaded some thirty times in a process stops loading (NVIDIA 580); one instance keeps
// it.
inline void keep_driver_loaded() {
  static const auto kept = Instance::create({});
  EXPECT_TRUE(kept) << kept.error().describe();
}

inline DeviceOptions test_options() {
  prefer_lavapipe();
  keep_driver_loaded();
  DeviceOptions options;
  options.validation = true;
  options.cache_directory = "";
  return options;
}

// Opens a device with validation; every test that uses it ends by expecting that the layer had nothing to say.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Device::open(test_options());
    ASSERT_TRUE(opened) << opened.error().describe();
    device = std::move(*opened);
  }
  void TearDown() override {
    if (device == nullptr) return;
    EXPECT_EQ(device->instance().validation_messages(), 0u)
        << (device->instance().first_validation_messages().empty()
                ? ""
                : device->instance().first_validation_messages().front());
  }
  std::unique_ptr<Device> device;
};

}  // namespace orrery::vulkan
