// A compute program found in a file, with what its launch would tell the translator.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery::lane_report {

struct ComputeProgram {
  std::string name;
  uint64_t offset = 0;          // bytes from the file's start to the first instruction
  std::vector<uint32_t> words;  // from the first instruction to the end of what is loaded with it
  uint32_t wave = 32;
  std::array<uint32_t, 3> group{};  // threads; 0: the file does not say
  uint32_t rsrc1 = 0, rsrc2 = 0;    // COMPUTE_PGM_RSRC1, COMPUTE_PGM_RSRC2 with LDS_SIZE filled in
  uint32_t private_bytes = 0;       // of one lane
};

}  // namespace orrery::lane_report
