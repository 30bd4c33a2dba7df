#include "gpu-service/shader/interpret/address_slice.hpp"

#include <algorithm>
#include <bitset>
#include <string_view>
#include <unordered_map>

#include "gpu-service/shader/decode/operands.hpp"
#include "gpu-service/shader/interpret/memory_shape.hpp"

namespace orrery::shader::interpret {
namespace {

using Registers = std::bitset<256>;

void add(Registers& registers, const Operand& operand) {
  if (operand.kind != OperandKind::vgpr) return;
  for (uint32_t i = 0; i < std::max<uint32_t>(operand.dwords, 1); ++i) registers.set((operand.index + i) & 255u);
}

bool is_vector_alu(Format format) {
  return format == Format::vop1 || format == Format::vop2 || format == Format::vop3 || format == Format::vop3p;
}

// Registers by an index, or several results in registers that also are operands.
bool moves_by_index(std::string_view name) {
  return name.starts_with("v_movrel") || name.starts_with("v_swap") || name.starts_with("s_set_gpr_idx");
}

struct Access {
  bool load = false, store = false, atomic = false;
  bool plain = false;  // its place and its data can be told apart here
};

Access access_of(const Instruction& i) {
  Access access;
  const bool family = i.format == Format::global || i.format == Format::mubuf || i.format == Format::mtbuf;
  if (!family || i.lds || i.tfe) return access;
  const auto shape = memory_shape(i.opcode);
  if (!shape) return access;
  access.load = shape->kind == MemoryShape::Kind::load;
  access.store = shape->kind == MemoryShape::Kind::store;
  access.atomic = shape->kind == MemoryShape::Kind::atomic;
  access.plain = true;
  return access;
}

// Every operand, whatever it is for.
Registers all_operands(const Instruction& i) {
  Registers r;
  for (uint32_t n = 0; n < i.source_count; ++n) add(r, i.sources[n]);
  for (const Operand* o : {&i.destination, &i.destination2, &i.address, &i.data, &i.data2}) add(r, *o);
  for (uint32_t n = 0; n < i.nsa_count; ++n) r.set(i.nsa[n]);
  // Image addresses and data are as wide as the instruction's form says, which the operands tell.
  return r;
}

Registers written(const Instruction& i) {
  Registers r;
  add(r, i.destination);
  return r;
}

// The destination's registers hold nothing of before, in the lanes that are on.
bool writes_whole(const Instruction& i) {
  const std::string_view name = mnemonic(i.opcode);
  if (i.dpp.kind != Dpp::Kind::none || i.sdwa.present || i.op_select != 0) return false;
  for (const char* part : {"16", "mac", "writelane", "permlane", "dot", "interp", "mqsad", "msad", "mix"}) {
    if (name.find(part) != name.npos) return false;
  }
  return true;
}

bool writes_exec(const Instruction& i) {
  const auto names = [](const Operand& o) {
    return o.kind == OperandKind::sgpr && o.index + std::max<uint32_t>(o.dwords, 1) > 126 && o.index <= 127;
  };
  const std::string_view name = mnemonic(i.opcode);
  return names(i.destination) || names(i.destination2) || name.starts_with("v_cmpx") ||
         name.find("saveexec") != name.npos || name.find("wrexec") != name.npos ||
         (i.format == Format::smem && names(i.data));
}

class Slicing {
 public:
  explicit Slicing(const Program& program) : code_(program.instructions), uses_(code_.size(), StepUse::whole) {}

  std::vector<StepUse> run() {
    if (!find_flow()) return uses_;
    find_full_exec();
    live_.resize(code_.size());
    // Backwards until nothing more becomes live; loops take a few rounds.
    for (bool more = true; more;) {
      more = false;
      for (size_t n = code_.size(); n-- > 0;) more = visit(n) || more;
    }
    for (size_t n = 0; n < code_.size(); ++n) uses_[n] = use_of(n);
    return uses_;
  }

 private:
  // Successors of every instruction; false where they are not known, or registers are indexed.
  bool find_flow() {
    std::unordered_map<uint32_t, uint32_t> at;
    for (uint32_t n = 0; n < code_.size(); ++n) at.emplace(code_[n].offset, n);
    next_.resize(code_.size());
    for (uint32_t n = 0; n < code_.size(); ++n) {
      const Instruction& i = code_[n];
      const std::string_view name = mnemonic(i.opcode);
      if (moves_by_index(name)) return false;
      if (name.starts_with("s_setpc") || name.starts_with("s_swappc") || name.starts_with("s_call") ||
          name.starts_with("s_rfe") || name.starts_with("s_subvector") || name.starts_with("s_trap")) {
        return false;
      }
      if (name.starts_with("s_endpgm")) continue;
      const auto go = [&](uint32_t offset) {
        const auto found = at.find(offset);
        if (found != at.end()) next_[n].push_back(found->second);
        return found != at.end();
      };
      const uint32_t behind = i.offset + i.size;
      const bool branch = name == "s_branch" || name.starts_with("s_cbranch");
      if (branch && !go(behind + static_cast<uint32_t>(i.immediate) * 4)) return false;
      if (name != "s_branch" && !go(behind)) return false;
    }
    return true;
  }

  // Where exec is as the wave began with it: what is written there is written in every lane that ever reads it.
  void find_full_exec() {
    changed_.assign(code_.size(), false);  // in front of the instruction exec may have been written
    for (bool more = true; more;) {
      more = false;
      for (size_t n = 0; n < code_.size(); ++n) {
        if (!changed_[n] && !writes_exec(code_[n])) continue;
        for (const uint32_t to : next_[n]) {
          more = more || !changed_[to];
          changed_[to] = true;
        }
      }
    }
  }

  Registers behind(size_t n) const {
    Registers live;
    for (const uint32_t to : next_[n]) live |= live_[to];
    return live;
  }

  StepUse use_of(size_t n) const {
    const Instruction& i = code_[n];
    const Registers wanted = behind(n) & written(i);
    if (const Access access = access_of(i); access.plain) {
      if (access.store) return StepUse::place_only;
      return wanted.none() ? StepUse::place_only : StepUse::whole;
    }
    // Scalar results (masks, read lanes) are all wanted.
    const bool scalar = i.destination.kind != OperandKind::vgpr || i.destination2.kind == OperandKind::sgpr;
    if (is_vector_alu(i.format) && !scalar && wanted.none()) return StepUse::none;
    return StepUse::whole;
  }

  bool visit(size_t n) {
    const Instruction& i = code_[n];
    Registers live = behind(n);
    const StepUse use = use_of(n);
    if (use != StepUse::none) {
      if (use == StepUse::whole && !changed_[n] && writes_whole(i) && (is_vector_alu(i.format) || access_of(i).load)) {
        live &= ~written(i);
      }
      if (use == StepUse::place_only) {
        add(live, i.address);
      } else {
        live |= operands(i);
      }
    }
    if (live == live_[n]) return false;
    live_[n] = live;
    return true;
  }

  static Registers operands(const Instruction& i) {
    if (is_vector_alu(i.format) || i.format == Format::vopc) {
      Registers r;
      for (uint32_t k = 0; k < i.source_count; ++k) add(r, i.sources[k]);
      return r;
    }
    if (access_of(i).load) {
      Registers r;
      add(r, i.address);
      return r;
    }
    return all_operands(i);
  }

  const std::vector<Instruction>& code_;
  std::vector<StepUse> uses_;
  std::vector<std::vector<uint32_t>> next_;
  std::vector<bool> changed_;
  std::vector<Registers> live_;  // in front of each instruction
};

}  // namespace

std::vector<StepUse> address_slice(const Program& program) { return Slicing(program).run(); }

}  // namespace orrery::shader::interpret
