#pragma once

#include <cstdint>

namespace orrery::shader::image_flags {

#define ORRERY_IMAGE_FLAG(name, value) inline constexpr uint32_t name = value;
#include "gpu-service/shader/image/flags.inc"
#undef ORRERY_IMAGE_FLAG

}  // namespace orrery::shader::image_flags
