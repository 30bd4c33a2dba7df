// A running title's GPU service in words.
#pragma once

#include <string>

#include "protocol/outside_view.hpp"

namespace orrery::protocol {

std::string status_text(const OutsideView& view);

}  // namespace orrery::protocol
