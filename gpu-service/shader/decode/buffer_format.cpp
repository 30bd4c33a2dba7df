#include "gpu-service/shader/decode/buffer_format.hpp"

#include <iterator>

namespace orrery::shader {

std::string_view buffer_format_name(uint32_t format) {
  static constexpr std::string_view kNames[] = {
#define ORRERY_BUFFER_FORMAT(name) #name,
#include "gpu-service/shader/decode/buffer_formats.inc"
#undef ORRERY_BUFFER_FORMAT
  };
  return format < std::size(kNames) ? kNames[format] : std::string_view{};
}

}  // namespace orrery::shader
