// Which steps of a program decide where it goes and what it touches. A run that only wants to know the places leaves
// the others out: arithmetic on what is loaded and stored is most of many programs.
#pragma once

#include <vector>

#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::interpret {

// Per instruction of the program.
enum class StepUse : uint8_t {
  whole,       // run it
  place_only,  // a memory access of which only the place is wanted
  none,        // leave it out
};

// Vector registers that hold only data are followed; all scalar code is run. A program that indexes its registers is
// run whole.
std::vector<StepUse> address_slice(const Program& program);

}  // namespace orrery::shader::interpret
