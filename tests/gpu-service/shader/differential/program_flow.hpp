// Control flow of random programs: statements within ifs, loops, switches, calls.
#pragma once

#include "tests/gpu-service/shader/differential/program_writer.hpp"

namespace orrery::shader::differential {

class ProgramFlow {
 public:
  ProgramFlow(ProgramWriter& writer, Family family) : w_(writer), family_(family) {}

  // `statements` of them, counting those inside. `together`: all waves of the group come by.
  void statements(uint32_t count, uint32_t depth, bool together);
  // Code behind the program's end that was called.
  void routines();

 private:
  // Where a loop is left to, and how deep masks were saved there.
  struct Loop {
    std::string behind;
    bool by_lanes = false;  // lanes leave by going off; the loop ends when none is left
    std::string collected;  // the mask of lanes that left, where the loop's end wants it
  };

  void simple();
  void nested(uint32_t& budget, uint32_t depth, bool together);
  void divergent_if(uint32_t& budget, uint32_t depth);
  void uniform_if(uint32_t& budget, uint32_t depth);
  void counted_loop(uint32_t& budget, uint32_t depth, bool together);
  void lane_loop(uint32_t& budget, uint32_t depth);
  void irreducible(uint32_t& budget, uint32_t depth);
  void switched(uint32_t& budget, uint32_t depth);
  void call();
  void leave_loop();
  void jump_to(const std::string& target);
  void body(uint32_t& budget, uint32_t depth, bool together);
  uint32_t part_of(uint32_t& budget);

  ProgramWriter& w_;
  Family family_;
  std::vector<Loop> loops_;
  std::vector<std::string> called_;
};

}  // namespace orrery::shader::differential
