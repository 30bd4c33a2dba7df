// A few instructions, assembled by llvm-mc-19 and interpreted in one wave with chosen registers.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "gpu-service/shader/interpret/interpreter.hpp"

namespace orrery::shader::testing {

// Machine code of assembly, s_endpgm added.
std::vector<uint32_t> assemble(const std::string& text, uint32_t wave, const std::string& processor = "gfx1013");
Program program_of(std::span<const uint32_t> words, Target target = Target::gfx1013);

// Per lane values.
using Values = std::vector<uint32_t>;
Values each_lane(uint32_t wave, const std::function<uint32_t(uint32_t)>& value);

struct Snippet {
  uint32_t wave = 32;
  uint32_t float_mode = 0xf0;  // FLOAT_MODE: all denormals, nearest even
  bool ieee = false, dx10_clamp = false;
  uint32_t threads = 0;  // 0: a full wave
  uint32_t lds_bytes = 0;
  std::map<uint32_t, uint32_t> sgprs;  // s2..s15
  std::array<Values, 4> vgprs;         // v1..v4
};

struct Result {
  interpret::Outcome outcome;
  std::array<Values, 3> vgprs;  // v10..v12; lanes that wrote nothing hold 0
};

// Runs `text`. Free registers: s16.., v5.. but v255; v0 holds the lane number.
Result run_snippet(const std::string& text, const Snippet& snippet = {});

}  // namespace orrery::shader::testing
