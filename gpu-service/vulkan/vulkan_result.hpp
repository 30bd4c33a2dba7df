// VkResult as an Error: names the call and the result, and says what a user can do where there is something to do.
#pragma once

#include <vulkan/vulkan_core.h>
#include <string_view>

#include "shared/error.hpp"

namespace orrery::vulkan {

std::string_view name_of(VkResult result);

// An error for a call that failed. VK_ERROR_DEVICE_LOST reads "the device was lost": this life of the service ends.
[[nodiscard]] std::unexpected<Error> vulkan_error(VkResult result, std::string_view call);

// Success, or the error of `call`.
Result<void> checked(VkResult result, std::string_view call);

}  // namespace orrery::vulkan
