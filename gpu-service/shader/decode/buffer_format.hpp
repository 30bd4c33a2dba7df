// Unified buffer formats: the FORMAT field of MTBUF and of buffer descriptors.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery::shader {

// LLVM's name ("BUF_FMT_32_FLOAT"), empty for a reserved number.
std::string_view buffer_format_name(uint32_t format);

}  // namespace orrery::shader
