#include "tests/gpu-service/shader/decode/comparison.hpp"

#include <fmt/format.h>

#include "tests/gpu-service/shader/decode/known_differences.hpp"

namespace orrery::shader::testing {
namespace {

void differ(Comparison& result, const WordGroup& words, const std::string& llvm, const std::string& ours,
            bool we_refuse) {
  if (const std::string_view reason = known_difference(llvm, ours, we_refuse); !reason.empty()) {
    ++result.known[std::string(reason)];
    return;
  }
  const std::string kind = fmt::format("{} {}",
                                       llvm.empty() ? "LLVM refuses"
                                       : we_refuse  ? "we refuse"
                                                    : "text",
                                       ours.substr(0, ours.find_first_of(" :")));
  result.differences.try_emplace(
      kind, fmt::format("{:08x} {:08x} {:08x}: LLVM \"{}\", ours \"{}\"", words[0], words.size() > 1 ? words[1] : 0,
                        words.size() > 2 ? words[2] : 0, llvm, ours));
}

// The first instruction of a group; its size shows in the second line.
void compare_group(Comparison& result, const WordGroup& group, const std::vector<std::string>& llvm, Target target,
                   uint32_t wave, std::vector<WordGroup>* again) {
  const auto first = decode(group, 0, target);
  if (llvm.empty()) {
    if (!first) {
      ++result.refused;
    } else if (again != nullptr) {
      again->push_back(without_unused_bits(group, target, wave));
    } else {
      differ(result, group, {}, to_text(*first, wave), false);
    }
    return;
  }
  if (!first) {
    differ(result, group, llvm[0], first.error().reason, true);
    return;
  }
  const std::string text = to_text(*first, wave);
  if (plain(llvm[0]) != text) {
    differ(result, group, llvm[0], text, false);
    return;
  }
  const auto second = decode(std::span(group).subspan(first->size / 4u), 0, target);
  const bool shows_size = second && second->opcode == Opcode::s_nop;
  if (shows_size && (llvm.size() < 2 || plain(llvm[1]) != to_text(*second, wave))) {
    differ(result, group, llvm[0] + " and another size", text, false);
    return;
  }
  ++(again == nullptr ? result.equal_cleared : result.equal);
}

}  // namespace

Comparison compare(std::span<const WordGroup> groups, Target target, uint32_t wave) {
  Comparison result;
  std::vector<WordGroup> again;
  const auto llvm = llvm_disassemble(groups, target, wave);
  for (size_t i = 0; i < groups.size(); ++i) {
    compare_group(result, groups[i], llvm[i], target, wave, &again);
  }
  const auto llvm_again = llvm_disassemble(again, target, wave);
  for (size_t i = 0; i < again.size(); ++i) {
    compare_group(result, again[i], llvm_again[i], target, wave, nullptr);
  }
  return result;
}

void Comparison::add(const Comparison& other) {
  equal += other.equal;
  equal_cleared += other.equal_cleared;
  refused += other.refused;
  for (const auto& [reason, count] : other.known) {
    known[reason] += count;
  }
  differences.insert(other.differences.begin(), other.differences.end());
}

std::string Comparison::report() const {
  std::string text =
      fmt::format("{} equal, {} equal with unused bits cleared, {} refused by both\n", equal, equal_cleared, refused);
  for (const auto& [reason, count] : known) {
    text += fmt::format("  {} known: {}\n", count, reason);
  }
  for (const auto& [kind, example] : differences) {
    text += fmt::format("  DIFFERENT {}: {}\n", kind, example);
  }
  return text;
}

}  // namespace orrery::shader::testing
