// Evaluates where a descriptor comes from: scalar code over user data, constants and guest memory.
#pragma once

#include <array>
#include <expected>
#include <string>

#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/memory/recording_memory.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::dispatch {

using memory::SettledRead;

// The four dwords of a V# or S#, or why they can't be had.
std::expected<std::array<uint32_t, 4>, std::string> read_descriptor(const shader::DescriptorSource& source,
                                                                    const DispatchState& dispatch,
                                                                    const SettledRead& read);

// The eight of a T#.
std::expected<std::array<uint32_t, 8>, std::string> read_image(const shader::ImageSource& source,
                                                               const DispatchState& dispatch, const SettledRead& read);

}  // namespace orrery::dispatch
