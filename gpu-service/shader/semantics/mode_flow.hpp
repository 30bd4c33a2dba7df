// What MODE is at every instruction: followed through the program before it is translated, so that it is a constant
// wherever instructions need it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu-service/shader/cfg/structured_graph.hpp"
#include "gpu-service/shader/ir/float_mode.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::semantics {

inline constexpr uint32_t kModeBits = 10;  // that are followed: rounding, denormals, DX10_CLAMP, IEEE

class ModeFlow {
 public:
  ModeFlow(const Program& program, const cfg::StructuredGraph& graph, uint32_t rsrc1);

  // Goes to a block's start, or on behind an instruction of it.
  void enter(uint32_t block);
  void pass(const Instruction& instruction);
  ir::FloatMode mode() const { return {now_.mode}; }
  // Why the instruction cannot be translated: it needs bits of MODE that are not known here.
  std::optional<std::string> refusal(const Instruction& instruction) const;

 private:
  // Bits that are known, and the scalar registers whose values are: MODE is saved in them and written from them.
  struct State {
    uint32_t mode = 0, known = (1u << kModeBits) - 1;
    struct Register {
      uint32_t value = 0, known = 0;
    };
    std::vector<Register> registers;
    bool reached = false;
    bool join(const State& other);  // true: changed
  };
  static void apply(State& state, const Instruction& instruction);

  std::vector<State> starts_;  // empty: the program never writes MODE
  State now_;
};

}  // namespace orrery::shader::semantics
