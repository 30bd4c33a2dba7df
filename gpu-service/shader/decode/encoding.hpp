// Which encoding a word has, and the opcode number in it. Internal to the decoder.
#pragma once

#include "gpu-service/shader/decode/table.hpp"

namespace orrery::shader {

struct Encoding {
  Format format;
  uint32_t number;
  bool known = true;
};

// ISA document, chapter 13. `next` is the second word: MTBUF keeps an opcode bit there.
Encoding encoding_of(uint32_t word, uint32_t next);

// The table line a decoded instruction came from.
const table::Entry& entry_of(const Instruction& instruction);

// The type of source `index`: SDWA lets the second source of VOP2 and VOPC, a VGPR by its line, be a constant of the
// first one's type.
table::Slot source_slot(const Instruction& instruction, const table::Entry& entry, unsigned index);

}  // namespace orrery::shader
