// How many address registers an image instruction takes (ISA document, "VADDR" table).
#pragma once

#include "gpu-service/shader/decode/instruction.hpp"

namespace orrery::shader {

unsigned image_address_dwords(const Instruction& image);

// By DIM.
uint8_t image_coordinates(uint32_t dim);
uint8_t image_gradients(uint32_t dim);
// Whether a mnemonic has the part "_b", "_cl", ... after "image_sample" and the like.
bool image_name_has(std::string_view name, std::string_view part);

}  // namespace orrery::shader
