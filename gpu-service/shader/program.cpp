// Program words to the list of instructions that can be reached from the first.
#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include "gpu-service/shader/cfg/computed_jump.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader {
namespace {

constexpr uint32_t kLongestInstruction = 5;  // dwords: MIMG with three NSA words
constexpr uint32_t kFetchDwords = 256;

// Words of the program so far, fetched in pieces.
class Code {
 public:
  explicit Code(const CodeFetch& fetch) : fetch_(fetch) {}

  // The words from `offset` on, as many as an instruction may need or fewer where the mapping ends.
  std::span<const uint32_t> at(uint32_t offset) {
    const uint32_t first = offset / 4;
    if (first < base_ || first + kLongestInstruction > base_ + piece_.size()) {
      piece_ = fetch_(offset, kFetchDwords);
      base_ = first;
    }
    const size_t skip = first - base_;
    return skip < piece_.size() ? piece_.subspan(skip) : std::span<const uint32_t>{};
  }

 private:
  const CodeFetch& fetch_;
  std::span<const uint32_t> piece_;
  uint32_t base_ = 0;
};

bool ends_walk(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_endpgm:
    case Opcode::s_endpgm_saved:
    case Opcode::s_endpgm_ordered_ps_done:
    case Opcode::s_branch:
    // Computed jumps: those that straight code explains are followed; whoever structures the program refuses others.
    case Opcode::s_setpc_b64:
    case Opcode::s_rfe_b64:
      return true;
    default:
      return false;
  }
}

bool is_branch(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_branch:
    case Opcode::s_cbranch_scc0:
    case Opcode::s_cbranch_scc1:
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
    case Opcode::s_cbranch_execz:
    case Opcode::s_cbranch_execnz:
    case Opcode::s_cbranch_cdbgsys:
    case Opcode::s_cbranch_cdbguser:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbgsys_and_user:
    case Opcode::s_call_b64:
    case Opcode::s_subvector_loop_begin:
    case Opcode::s_subvector_loop_end:
      return true;
    default:
      return false;
  }
}

ShaderRefusal refusal(const Instruction& instruction, std::string reason) {
  return {instruction.offset, std::string(mnemonic(instruction.opcode)), std::move(reason)};
}

// A place that code leads to, and the instruction that does; the first place has none.
struct Way {
  static constexpr uint32_t kStart = ~0u;
  uint32_t to = 0, from = kStart;
};

// For every dword of the program: nothing yet, the first dword of an instruction, or its inside.
enum class Mark : uint8_t { none, start, inside };

}  // namespace

std::expected<Program, ShaderRefusal> read_program(const CodeFetch& fetch, Target target) {
  Program program;
  Code code(fetch);
  std::vector<Mark> marks;
  std::vector<uint32_t> numbers;  // of the instructions at the marks' starts
  std::vector<Way> pending{{}};
  while (!pending.empty()) {
    const Way way = pending.back();
    uint32_t offset = way.to;
    pending.pop_back();
    for (bool ended = false; !ended;) {
      const uint32_t at = offset / 4;
      if (at < marks.size() && marks[at] != Mark::none) {
        if (marks[at] == Mark::inside) {
          return std::unexpected(
              ShaderRefusal{offset, "program", "a jump or the code in front leads into the middle of an instruction"});
        }
        break;
      }
      if (offset + kLongestInstruction * 4 > kMaxProgramBytes) {
        return std::unexpected(ShaderRefusal{offset, "program", fmt::format("longer than {} bytes", kMaxProgramBytes)});
      }
      const auto words = code.at(offset);
      if (words.empty() && offset == way.to && way.from != Way::kStart) {
        return std::unexpected(
            refusal(program.instructions[way.from], fmt::format("leads to {} bytes, which are not mapped", offset)));
      }
      if (words.empty()) {
        return std::unexpected(ShaderRefusal{offset, "program", "runs off its mapping"});
      }
      auto instruction = decode(words, offset, target);
      if (!instruction) {
        return std::unexpected(ShaderRefusal{offset, "program", std::move(instruction.error().reason)});
      }
      const uint32_t dwords = instruction->size / 4u;
      marks.resize(std::max<size_t>(marks.size(), at + dwords), Mark::none);
      numbers.resize(marks.size());
      for (uint32_t i = 1; i < dwords; ++i) {
        if (marks[at + i] != Mark::none) {
          return std::unexpected(refusal(*instruction, "a jump leads into the middle of this instruction"));
        }
        marks[at + i] = Mark::inside;
      }
      marks[at] = Mark::start;
      numbers[at] = static_cast<uint32_t>(program.instructions.size());
      const Opcode opcode = instruction->opcode;
      if (is_branch(opcode)) {
        const int64_t destination = int64_t{offset} + instruction->size + int64_t{instruction->immediate} * 4;
        if (destination < 0 || destination >= kMaxProgramBytes) {
          return std::unexpected(
              refusal(*instruction, fmt::format("branches to {} bytes, outside the program", destination)));
        }
        pending.push_back({static_cast<uint32_t>(destination), static_cast<uint32_t>(program.instructions.size())});
      }
      if (opcode == Opcode::s_code_end) {
        return std::unexpected(refusal(*instruction, "the code runs into its end mark"));
      }
      offset += instruction->size;
      ended = ends_walk(opcode);
      if (program.instructions.size() == program.instructions.capacity()) {
        program.instructions.reserve(std::max<size_t>(64, program.instructions.capacity() * 4));
      }
      program.instructions.push_back(*std::move(instruction));
      if (opcode == Opcode::s_setpc_b64 || opcode == Opcode::s_swappc_b64) {
        if (const auto traced = cfg::trace_jump(program.instructions)) {
          pending.push_back({traced->target, static_cast<uint32_t>(program.instructions.size()) - 1});
        }
      }
    }
  }
  if (!std::ranges::is_sorted(program.instructions, {}, &Instruction::offset)) {
    std::vector<Instruction> ascending;
    ascending.reserve(program.instructions.size());
    for (size_t at = 0; at < marks.size(); ++at)
      if (marks[at] == Mark::start) ascending.push_back(program.instructions[numbers[at]]);
    program.instructions = std::move(ascending);
  }
  const Instruction& last = program.instructions.back();
  program.extent = last.offset + last.size;
  // The hash covers the instructions and where they are; bytes that no path reaches do not count.
  std::vector<uint32_t> hashed;
  hashed.reserve(program.extent / 4 + program.instructions.size());
  for (const Instruction& instruction : program.instructions) {
    hashed.push_back(instruction.offset);
    hashed.insert(hashed.end(), instruction.words.begin(), instruction.words.begin() + instruction.size / 4);
  }
  program.hash = hash_bytes(std::as_bytes(std::span(hashed)));
  return program;
}

}  // namespace orrery::shader
