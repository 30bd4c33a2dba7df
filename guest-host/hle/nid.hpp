// The console's symbol identifiers: 11 characters computed from a name (guest-abi.md 1.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::hle {

// The identifier of a name: sceKernelLoadStartModule -> wzvqT4UqKX8. A name of the form $XXXXXXXXXXX is that
// identifier.
std::string nid_of(std::string_view name);
// The name of an identifier that we know, served by us or not.
std::optional<std::string_view> known_name(std::string_view nid);

}  // namespace orrery::hle
