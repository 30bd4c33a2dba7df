// What a program needs of its wave beyond each lane's own work: decides which lane layouts can run it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::shader {

namespace ir {
struct Function;
}

struct ProgramNeeds {
  bool votes = false;        // a branch asks whether any lane of a mask is set
  bool masks_whole = false;  // a mask is read as a number: every lane's bit
  bool lane_values = false;  // another lane's value: readlane, permlane, DPP, bpermute
  bool lockstep = false;     // a lane may read what another lane of its wave wrote, without a barrier instruction
  bool lds = false;          // the group's local data share
  bool barrier = false;      // waves of the group meet
  bool wave_stores = false;  // stores and atomics that the wave does once, not each lane
  bool private_memory = false;
  bool wide_lds_atomics = false;  // 64-bit ones
  friend bool operator==(const ProgramNeeds&, const ProgramNeeds&) = default;

  // Lanes of a wave must learn something from each other.
  bool exchange() const { return votes || masks_whole || lane_values || lockstep || wave_stores; }
  // "masks read whole, LDS, barrier"; "nothing of its wave" when there is no need.
  std::string text() const;
  std::vector<std::string> names() const;
};

// Of a finished function, after the passes and with fences in place (passes::run with `fence`).
ProgramNeeds needs_of(const ir::Function& function);

}  // namespace orrery::shader
