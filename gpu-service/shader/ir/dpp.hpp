// Data-parallel primitives: a VALU source read from another lane of the wave (RDNA 2 ISA, "DPP"). Also the generic
// address apertures.
#pragma once

#include "gpu-service/shader/ir/builder.hpp"

namespace orrery::shader::ir {

// Where flat addresses reach LDS and private memory; above every guest address, so that no buffer can lie there.
inline constexpr uint64_t kSharedAperture = 1ull << 48, kPrivateAperture = 2ull << 48;

// Source 0 as the modifier delivers it; lanes whose source is not valid get 0.
Value dpp_read(Builder& b, const Dpp& dpp, Value v);
// Lanes whose result is written (masks of rows and banks, invalid sources without bound control), or none when all are.
Value dpp_writes(Builder& b, const Dpp& dpp);

}  // namespace orrery::shader::ir
