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

// "NID#L#M" taken apart; library and module ids are numbers in the 64-digit alphabet. Nothing when it is not of that
// form.
struct ImportName {
  std::string_view nid;
  uint16_t library = 0;
  uint16_t module = 0;
};
std::optional<ImportName> parse_import_name(std::string_view text);

}  // namespace orrery::hle
