// What a construct does for a lane that is off all through it: nothing, as a rule, which is what lets that lane go
// past.
#pragma once

#include "gpu-service/shader/passes/constructs.hpp"
#include "gpu-service/shader/passes/lane_view.hpp"

namespace orrery::shader::passes {

struct IdleVerdict {
  bool blocked = false;   // something inside concerns lanes together, or the construct is not closed
  bool harmless = false;  // an idle lane stores nothing in it
  // Loops.
  std::vector<uint32_t> resting;                   // masks among the header's phis that stay 0 for an idle lane
  std::vector<std::pair<uint32_t, Seen>> leaving;  // values used behind the loop: what an idle lane sees of them
};

struct IdleLanes {
  std::vector<IdleVerdict> verdicts;  // by construct
  std::vector<uint8_t> clean;         // by value: a selection's join's phi, the same for an idle lane on both ways
};

// Uses of values, dead ones left out.
struct Users {
  explicit Users(const ir::Function& f, const std::vector<uint8_t>& live);
  std::span<const uint32_t> of(uint32_t value) const {  // instructions
    return std::span(user_).subspan(first_[value], first_[value + 1] - first_[value]);
  }
  std::vector<uint8_t> decides;  // by value: blocks branch on it

 private:
  std::vector<uint32_t> first_, user_;
};

IdleLanes find_idle_lanes(const ir::Function& f, const Constructs& constructs, const std::vector<uint8_t>& live,
                          const Users& users);

}  // namespace orrery::shader::passes
