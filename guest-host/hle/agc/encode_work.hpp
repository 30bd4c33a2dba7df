// Packets of the builders that start work: draws and dispatches. Pure: words in, words out.
#pragma once

#include "guest-host/hle/agc/pm4.hpp"

namespace orrery::hle::agc {

// Measured.
Words draw_index_auto(uint32_t count, uint32_t initiator);
Words draw_index(uint32_t count, uint64_t address, uint32_t initiator);
// Header and size measured; the two user-data locations are written as 0 (none).
Words draw_indirect(Opcode draw, uint32_t data_offset, uint32_t initiator);

// Size and header measured; the initiator as public SDKs compute it: (modifier & 0xA038) | 0x41.
Words dispatch(uint32_t x, uint32_t y, uint32_t z, uint32_t modifier);
// Arguments at an offset from the base set before (graphics queue).
Words dispatch_indirect_offset(uint32_t data_offset, uint32_t modifier);
// Arguments at an address (compute queue).
Words dispatch_indirect_address(uint64_t address, uint32_t modifier);

// Goes on at `address`, in a buffer of `dwords` dwords: INDIRECT_BUFFER with the chain bit. Size measured, bits assumed
// from the name.
Words jump(uint64_t address, uint32_t dwords);

}  // namespace orrery::hle::agc
