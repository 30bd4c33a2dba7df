// The steps of one dispatch, and the code it reaches by computed jumps, read when it gets there.
#pragma once

#include <deque>
#include <unordered_map>

#include "gpu-service/shader/interpret/step.hpp"

namespace orrery::shader::interpret {

class Engine {
 public:
  Engine(const Dispatch& dispatch, GuestBytes& memory);

  // Index of the step at a program offset; code that is not known yet is read from guest memory. Error: why not.
  std::expected<uint32_t, std::string> step_at(uint32_t offset);
  const Step& step(uint32_t index) const { return steps_[index]; }

 private:
  uint32_t known(uint32_t offset) const;     // index of the step at or behind it; kNoStep: none
  void add(const Instruction& instruction);  // must stay where it is: the step points to it
  void link(size_t first);                   // successors of the steps from `first` on

  const Dispatch& dispatch_;
  GuestBytes& memory_;
  std::deque<Instruction> own_;  // instructions read later
  std::vector<Step> steps_;
  std::unordered_map<uint32_t, uint32_t> index_;
  std::unordered_map<uint32_t, uint32_t> left_out_;  // offset of an instruction to that of the next
};

}  // namespace orrery::shader::interpret
