// printf's formatting, with arguments taken from the guest.
#pragma once

#include <string>

#include "guest-host/hle/arguments.hpp"
#include "guest-host/hle/refusals.hpp"

namespace orrery::hle::libc {

// `format` and the strings that it names are guest pointers. %n stores nothing and is refused by name; so is what C
// does not define.
std::string format_text(const char* format, VariableArguments arguments, Refusals& refusals);

}  // namespace orrery::hle::libc
