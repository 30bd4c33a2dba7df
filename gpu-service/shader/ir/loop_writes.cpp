// Which variables a loop writes, told before its blocks are written: what it does not write is read at its header
// without a phi, so that a descriptor or an address held across a loop is seen for what it is. Told from the operands
// of the instructions; each write checks it (State::write), so an instruction that writes more costs a second
// construction and nothing else.
#include <algorithm>

#include "gpu-service/shader/ir/builder_state.hpp"

namespace orrery::shader::ir {

void Builder::State::find_loop_writes(const LoopWrites& known) {
  if (loop_count == 0) return;
  const size_t words = page_count;
  loop_writes.assign(loop_count * words, known.any ? ~0u : 0u);
  passed_headers.assign(loop_count * words, 0);
  passed_anywhere.assign(kVarRoute + f.graph->routes, 0);
  if (known.any) return;
  uint32_t* bits = nullptr;
  auto mark = [&](uint32_t variable) { bits[variable / 32] |= 1u << variable % 32; };
  auto mark_register = [&](uint32_t reg) {
    mark(kVarNumber + (reg & 127));
    mark(kVarMask + (reg & 127));
  };
  auto mark_operand = [&](const Operand& operand) {
    const uint32_t count = std::max<uint32_t>(operand.dwords, operand.lane_mask && builder.wave64() ? 2 : 1);
    for (uint32_t n = 0; n < count; ++n) {
      const uint32_t reg = operand.index + n;
      if (operand.kind == OperandKind::vgpr) mark(kVarVgpr + (reg & 255));
      if (operand.kind != OperandKind::sgpr) continue;
      mark_register(reg);
      if (builder.wave64()) mark_register(reg ^ 1);  // the pair's mask changes, and with it the other half's source
    }
  };
  for (uint32_t n = 0; n < f.blocks.size(); ++n) {
    if (loop_of[n] == kNone) continue;
    bits = &loop_writes[loop_index[loop_of[n]] * words];
    mark(kVarScc);
    mark_register(kExec);
    mark_register(kExec + 1);
    const cfg::StructuredBlock& block = f.graph->blocks[n];
    for (const cfg::RouteAssignment& a : block.assignments) mark(kVarRoute + a.route);
    for (uint32_t i = block.first; i < block.first + block.count && i < program.instructions.size(); ++i) {
      mark_operand(program.instructions[i].destination);
      mark_operand(program.instructions[i].destination2);
    }
  }
  for (const auto& [header, variable] : known.more) {
    if (loop_of[header] != header) continue;
    bits = &loop_writes[loop_index[header] * words];
    mark(variable);
  }
  // What an inner loop writes, the outer writes. Inner headers are behind outer ones.
  for (uint32_t n = static_cast<uint32_t>(f.blocks.size()); n-- > 0;) {
    if (loop_of[n] != n || outer_loop[n] == kNone) continue;
    for (size_t w = 0; w < words; ++w) {
      loop_writes[loop_index[outer_loop[n]] * words + w] |= loop_writes[loop_index[n] * words + w];
    }
  }
}

// Like passed(), at the header of a loop whose blocks are not all written yet.
uint32_t Builder::State::passed_open(uint32_t variable, uint32_t header) {
  const uint32_t dominator = joins[header].dominator;
  if (dominator == kNone || loop_of[header] != header) return kNone;
  // Ways from the dominator may part and write the variable before they meet at the header.
  const auto& blocks = writers[variable];
  const auto first = std::ranges::upper_bound(blocks, dominator);
  if (first != blocks.end() && *first < header) return kNone;
  const size_t at = loop_index[header] * static_cast<size_t>(page_count) + variable / 32;
  const uint32_t bit = 1u << variable % 32;
  if (loop_writes[at] & bit) return kNone;
  passed_headers[at] |= bit;
  passed_anywhere[variable] = 1;
  return dominator;
}

void Builder::State::check_passed(uint32_t variable) {
  for (uint32_t h = loop_of[block]; h != kNone; h = outer_loop[h]) {
    if (passed_headers[loop_index[h] * static_cast<size_t>(page_count) + variable / 32] >> variable % 32 & 1) {
      unforeseen.push_back({h, variable});
    }
  }
}

}  // namespace orrery::shader::ir
