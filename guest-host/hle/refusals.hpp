// Handlers report what they do not do to the run's Refusals.
#pragma once

#include "guest-host/cpu/refusals.hpp"

namespace orrery::hle {
using cpu::Refusals;
}
