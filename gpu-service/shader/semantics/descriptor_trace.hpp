// Where a V# comes from, by its four words' values.
#pragma once

#include <optional>

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::semantics {

// User data, or loaded from user-data pointers through pointers at constant offsets; otherwise none.
std::optional<DescriptorSource> trace_descriptor(const ir::Builder& b, const std::array<ir::Value, 4>& words);

}  // namespace orrery::shader::semantics
