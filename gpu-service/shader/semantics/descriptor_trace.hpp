// Where a V#, S# or T# comes from, by its words' values.
#pragma once

#include <expected>
#include <span>

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::semantics {

// The scalar code that computes the four words, back to user data, constants and guest memory; or what ended the way.
std::expected<DescriptorSource, TraceEnd> trace_descriptor(const ir::Builder& b, const std::array<ir::Value, 4>& words);
// Likewise of a T#'s eight words.
std::expected<ImageSource, TraceEnd> trace_image(const ir::Builder& b, std::span<const ir::Value, 8> words);
// With SCRATCH_EN: the word (the first of a V# that is not traced) is made of user data 0, where the private segment's
// descriptor lies. Looks at a bounded number of operations.
bool from_private_descriptor(const ir::Function& f, ir::Value word);

}  // namespace orrery::shader::semantics
