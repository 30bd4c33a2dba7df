#include "tests/gpu-service/shader/differential/shrink.hpp"

#include <algorithm>
#include <exception>
#include <set>

namespace orrery::shader::differential {
namespace {

constexpr uint32_t kNop = 0xbf800000;

bool removed(const AssembledProgram& program, const Place& place) {
  return std::all_of(program.words.begin() + place.word, program.words.begin() + place.word + place.words,
                     [](uint32_t word) { return word == kNop; });
}

std::set<uint32_t> units_of(const AssembledProgram& program) {
  std::set<uint32_t> units;
  for (const Place& place : program.places) {
    if (place.unit != 0 && !removed(program, place)) units.insert(place.unit);
  }
  return units;
}

AssembledProgram without(AssembledProgram program, const std::set<uint32_t>& units) {
  for (const Place& place : program.places) {
    if (units.contains(place.unit)) std::fill_n(program.words.begin() + place.word, place.words, kNop);
  }
  return program;
}

class Shrinker {
 public:
  Shrinker(Machine& machine, Shrunk start, uint32_t most_tries)
      : machine_(machine), best_(std::move(start)), most_tries_(most_tries) {}

  // Halves, quarters, ... of the units; again while something went away.
  Shrunk all() {
    bool smaller = true;
    while (smaller && best_.tries < most_tries_) {
      smaller = false;
      for (size_t size = std::max<size_t>(1, units_of(best_.program).size() / 2); size > 0; size /= 2) {
        smaller = pass(size) || smaller;
      }
    }
    return std::move(best_);
  }

 private:
  bool pass(size_t size) {
    bool smaller = false;
    const std::set<uint32_t> now = units_of(best_.program);
    const std::vector<uint32_t> units(now.rbegin(), now.rend());
    for (size_t first = 0; first < units.size() && best_.tries < most_tries_; first += size) {
      const auto begin = units.begin() + static_cast<std::ptrdiff_t>(first);
      smaller = attempt({begin, begin + static_cast<std::ptrdiff_t>(std::min(size, units.size() - first))}) || smaller;
    }
    return smaller;
  }

  bool attempt(const std::set<uint32_t>& units) {
    ++best_.tries;
    AssembledProgram candidate = without(best_.program, units);
    try {
      const Variant how = best_.failure.variant;
      const auto failure = machine_.difference(candidate, &how);
      if (!failure || failure->step != best_.failure.step) return false;
      best_.program = std::move(candidate);
      best_.failure = *failure;
      return true;
    } catch (const std::exception&) {
      return false;  // no longer a program
    }
  }

  Machine& machine_;
  Shrunk best_;
  uint32_t most_tries_;
};

}  // namespace

Shrunk shrink(Machine& machine, const AssembledProgram& program, const Failure& failure, uint32_t most_tries) {
  return Shrinker(machine, {program, failure}, most_tries).all();
}

uint32_t units_left(const AssembledProgram& program) { return static_cast<uint32_t>(units_of(program).size()); }

}  // namespace orrery::shader::differential
