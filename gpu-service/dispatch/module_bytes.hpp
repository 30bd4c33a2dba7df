// A translated module as bytes and back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "gpu-service/shader/translate.hpp"

namespace orrery::dispatch {

void append_module(std::vector<std::byte>& out, const shader::Module& module);
// Nothing when the bytes are no module; they are looked at within their bounds only.
std::optional<shader::Module> module_of(std::span<const std::byte> bytes);

}  // namespace orrery::dispatch
