// What the generator's parts write with: lines, labels, registers by role, random choices.
//
// Registers. s[0:1] memory; s[4:7] V# of the input; s[8:11] V# of all memory; s[12:15] V# of a part of
// the threads' own memory, kShortBytes; s16 group; s17 the wave's number;
// s20..s31 numbers; s33 the wave's number in its group; s[34:35] the execution mask at start; s36..s47 masks; s50..s59
// loop counters; s60..s79 saved masks; s80..s95 passing use. v1 the lane's number in the dispatch; v2 in its group; v3
// in its wave; v4..v7 passing use; v8..v17 integers; v20..v23 f32; v24..v26 pairs of f16; v[28:33] f64; v40..v49 loop
// counters; v50.. masks kept in lanes. A NaN's payload is not the same everywhere, so floats go into integer registers
// only through an instruction that makes all NaNs one.
#pragma once

#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "tests/gpu-service/shader/differential/random_program.hpp"

namespace orrery::shader::differential {

class ProgramWriter {
 public:
  // `prefix`: of labels.
  ProgramWriter(Launch launch, std::string prefix, uint32_t seed) : prefix_(std::move(prefix)), random_(seed) {
    program_.launch = launch;
  }

  const Launch& launch() const { return program_.launch; }
  bool wide() const { return program_.launch.wave == 64; }
  std::mt19937& random() { return random_; }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  bool chance(uint32_t one_in) { return below(one_in) == 0; }
  template <typename T, size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }

  // Units: lines written inside of one belong together.
  uint32_t new_unit() { return ++units_; }
  void set_unit(uint32_t unit) { unit_ = unit; }
  uint32_t unit() const { return unit_; }

  // One instruction, with placeholders: {exec} {vcc} a mask's names; {b} b32 or b64; {u} u32 or u64, all of the wave's
  // width. The rest of the placeholders are instruction_templates.hpp's.
  void line(std::string text);
  std::string new_label();
  void label(const std::string& name) { program_.lines.push_back({name + ":", unit_}); }

  // "s36" or "s[36:37]".
  std::string mask(uint32_t sgpr) const;
  std::string random_mask() { return mask(36 + 2 * below(6)); }
  std::string saved_mask(uint32_t depth) const { return mask(60 + 2 * depth); }
  std::string number() { return "s" + std::to_string(20 + below(12)); }
  std::string integer() { return "v" + std::to_string(8 + below(10)); }
  std::string single() { return "v" + std::to_string(20 + below(4)); }
  std::string half() { return "v" + std::to_string(24 + below(3)); }
  std::string twice() { return pair('v', 28 + 2 * below(3)); }
  static std::string pair(char file, uint32_t first);
  std::string inline_integer();
  std::string inline_float();
  std::string literal();
  // SCC becomes something random.
  void random_condition();
  // A mask register becomes what a random comparison of lanes says.
  void compare_lanes(const std::string& to);

  // A place among the approximations for one more; none when the row is full.
  std::optional<uint32_t> approximate_slot(uint32_t ulp, float absolute);
  ProgramText finish() { return std::move(program_); }
  std::vector<Line>& lines() { return program_.lines; }

 private:
  ProgramText program_;
  std::string prefix_;
  std::mt19937 random_;
  uint32_t unit_ = 0, units_ = 0, labels_ = 0;
};

// Sets the unit for a scope.
class UnitScope {
 public:
  UnitScope(ProgramWriter& writer, uint32_t unit) : writer_(writer), before_(writer.unit()) { writer_.set_unit(unit); }
  ~UnitScope() { writer_.set_unit(before_); }
  UnitScope(const UnitScope&) = delete;
  UnitScope& operator=(const UnitScope&) = delete;

 private:
  ProgramWriter& writer_;
  uint32_t before_;
};

// Sets v1, v2, v3, s17, s32, s33, s[34:35], with all lanes on: those that no thread stands for can be read too.
void write_place(ProgramWriter& writer);

// The generator's parts: one statement each, of which no line is longer than it must be.
void write_integer_statement(ProgramWriter& writer);
void write_float_statement(ProgramWriter& writer);
void write_scalar_statement(ProgramWriter& writer);
void write_mask_statement(ProgramWriter& writer);
void write_lane_statement(ProgramWriter& writer);
void write_lds_statement(ProgramWriter& writer);
void write_memory_statement(ProgramWriter& writer);
// Between waves of a group; only where all of them come by.
void write_group_exchange(ProgramWriter& writer);
void write_approximation(ProgramWriter& writer);

}  // namespace orrery::shader::differential
