// How many address registers an image instruction takes (ISA document, "VADDR" table).
#pragma once

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader {

unsigned image_address_dwords(const Instruction& image);

}  // namespace orrery::shader
