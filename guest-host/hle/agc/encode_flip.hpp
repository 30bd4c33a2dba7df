// Packets of the two builders that talk to the display. Measured on hardware with one port.
#pragma once

#include "guest-host/hle/agc/pm4.hpp"

namespace orrery::hle::agc {

// A builder's packet that reserves more than it writes: the rest is skipped by the last NOP header.
struct Reserved {
  Words words;      // what is written
  uint32_t dwords;  // by how much the cursor advances
};

Reserved set_flip(uint32_t buffer, uint64_t flip_argument, uint32_t context_id);
Reserved wait_until_safe_for_rendering(uint32_t buffer);

}  // namespace orrery::hle::agc
