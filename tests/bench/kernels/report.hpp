// Tables and JSON of what was measured.
#pragma once

#include <span>
#include <string>

#include "tests/bench/kernels/measure.hpp"

namespace orrery::bench {

const char* name_of(MemoryPlace place);
std::string table_head();
std::string table_line(const Measured& measured);    // one line per layout
std::string summary(std::span<const Measured> all);  // geometric means per wave, layout and memory; what is above 1.5
std::string json_text(const vulkan::DeviceFacts& facts, std::span<const Measured> all);

}  // namespace orrery::bench
