#include "gpu-service/shader/lanes/program_needs.hpp"

#include "gpu-service/shader/ir/function.hpp"

namespace orrery::shader {

using ir::Op;
using ir::Space;

ProgramNeeds needs_of(const ir::Function& f) {
  ProgramNeeds needs;
  for (const ir::Block& block : f.blocks) {
    for (const uint32_t id : block.body) {
      const ir::Inst& inst = f.insts[id];
      switch (inst.op) {
        case Op::any:
          needs.votes = true;
          break;
        case Op::ballot:
        case Op::first_lane:
          needs.masks_whole = true;
          break;
        case Op::read_lane:
        case Op::shuffle:
          needs.lane_values = true;
          break;
        case Op::wave_fence:
          needs.lockstep = true;
          break;
        case Op::group_barrier:
          needs.barrier = true;
          break;
        case Op::load:
        case Op::store:
        case Op::atomic: {
          const Space space = f.accesses[inst.imm].space;
          needs.lds |= space == Space::lds;
          needs.wide_lds_atomics |= space == Space::lds && inst.op == Op::atomic && f.accesses[inst.imm].bytes == 8;
          needs.private_memory |= space == Space::scratch;
          bool per_lane = inst.per_lane;
          for (const ir::Value v : f.args(inst)) per_lane |= f.at(v).per_lane;
          needs.wave_stores |= inst.op != Op::load && !per_lane;
          break;
        }
        default:
          break;
      }
    }
  }
  return needs;
}

std::vector<std::string> ProgramNeeds::names() const {
  std::vector<std::string> out;
  const auto add = [&](bool needed, const char* name) {
    if (needed) out.emplace_back(name);
  };
  add(votes, "votes");
  add(masks_whole, "masks read whole");
  add(lane_values, "other lanes' values");
  add(lockstep, "lockstep");
  add(lds, "LDS");
  add(wide_lds_atomics, "64-bit LDS atomics");
  add(barrier, "barrier");
  add(wave_stores, "stores of the wave");
  add(private_memory, "private memory");
  return out;
}

std::string ProgramNeeds::text() const {
  std::string out;
  for (const std::string& name : names()) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "nothing of its wave" : out;
}

}  // namespace orrery::shader
