// Evaluates where a bound buffer's descriptor comes from: user data, or a chain of pointers through guest memory.
#pragma once

#include <array>
#include <expected>
#include <span>
#include <string>

#include "gpu-service/memory/recording_memory.hpp"
#include "gpu-service/shader/translate.hpp"
#include "shared/quantity.hpp"

namespace orrery::dispatch {

using memory::SettledRead;

// The four dwords of the V#, or why they can't be had.
std::expected<std::array<uint32_t, 4>, std::string> read_descriptor(const shader::DescriptorSource& source,
                                                                    std::span<const uint32_t> user_data,
                                                                    const SettledRead& read);

}  // namespace orrery::dispatch
