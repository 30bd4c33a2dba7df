// The form of import names in titles: "NID#L#M", with library and module ids in the 64-digit alphabet
// (guest-abi.md 1.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery::loader {

struct ImportName {
  std::string_view nid;
  uint16_t library = 0;
  uint16_t module = 0;
};
// Nothing when the text is not of that form (a plain name).
std::optional<ImportName> parse_import_name(std::string_view text);

}  // namespace orrery::loader
