#include "gpu-service/shader/interpret/engine.hpp"

#include <fmt/format.h>

namespace orrery::shader::interpret {

Engine::Engine(const Dispatch& dispatch, GuestBytes& memory) : dispatch_(dispatch), memory_(memory) {
  const auto& instructions = dispatch.program->instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const StepUse use = i < dispatch.uses.size() ? dispatch.uses[i] : StepUse::whole;
    if (use == StepUse::none) {
      left_out_.emplace(instructions[i].offset, instructions[i].offset + instructions[i].size);
      continue;
    }
    add(instructions[i]);
    steps_.back().place_only = use == StepUse::place_only;
  }
  link(0);
}

void Engine::add(const Instruction& instruction) {
  if (index_.try_emplace(instruction.offset, static_cast<uint32_t>(steps_.size())).second) {
    steps_.push_back(prepare(instruction));
  }
}

uint32_t Engine::known(uint32_t offset) const {
  for (auto next = left_out_.find(offset); next != left_out_.end(); next = left_out_.find(offset)) {
    offset = next->second;
  }
  const auto found = index_.find(offset);
  return found == index_.end() ? kNoStep : found->second;
}

void Engine::link(size_t first) {
  for (size_t i = first; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    const uint32_t behind = step.offset() + step.instruction->size;
    step.next = known(behind);
    if (step.instruction->format == Format::sopp || step.instruction->opcode == Opcode::s_call_b64) {
      step.target = known(behind + static_cast<uint32_t>(step.instruction->immediate) * 4);
    }
  }
}

std::expected<uint32_t, std::string> Engine::step_at(uint32_t offset) {
  if (const uint32_t step = known(offset); step != kNoStep) {
    return step;
  }
  std::array<uint32_t, 256> piece;
  const uint64_t start = dispatch_.program_address + static_cast<uint64_t>(int64_t{static_cast<int32_t>(offset)});
  const CodeFetch fetch = [&](uint32_t at, uint32_t wanted) -> std::span<const uint32_t> {
    for (uint32_t dwords = std::min<uint32_t>(wanted, piece.size()); dwords > 0; --dwords) {
      const auto words = std::span(piece).first(dwords);
      if (memory_.read(start + at, std::as_writable_bytes(words))) {
        return words;
      }
    }
    return {};
  };
  auto program = read_program(fetch);
  if (!program) {
    return std::unexpected(program.error().reason);
  }
  const size_t begin = steps_.size();
  for (Instruction& instruction : program->instructions) {
    instruction.offset += offset;
    add(own_.emplace_back(instruction));
  }
  link(begin);
  return index_.at(offset);
}

}  // namespace orrery::shader::interpret
