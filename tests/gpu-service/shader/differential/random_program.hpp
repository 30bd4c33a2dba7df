// A random program as text, before it is assembled, and as words, as it is run, saved and shrunk.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery::shader::differential {

// What a program is mostly made of.
enum class Family : uint8_t { integer, floats, scalar, masks, lanes, flow, lds, memory, mixed };
inline constexpr std::array kFamilies{Family::integer, Family::floats, Family::scalar, Family::masks, Family::lanes,
                                      Family::flow,    Family::lds,    Family::memory, Family::mixed};
const char* name_of(Family family);

// Lines of one unit are kept or removed together, so that what is left is still a valid program without races.
// Unit 0 is never removed.
struct Line {
  std::string text;  // one instruction, or a label
  uint32_t unit = 0;
};

// How a program is launched.
struct Launch {
  uint32_t wave = 32;
  uint32_t threads = 32;  // of a group
  uint32_t groups = 1;
  uint32_t total_threads = 0;  // of a dispatch whose last group is partial; 0: all groups are full
  uint32_t lds_bytes = 0;
  uint32_t scratch_dwords = 0;
  uint32_t float_mode = 0xf0;
  bool ieee = false, dx10_clamp = true;
  bool starts_full() const { return threads % wave == 0 && total_threads == 0; }
  uint32_t waves() const { return (threads + wave - 1) / wave; }
};

// A result that an approximating instruction gave: dword `slot` of a thread's row of approximations. It is right within
// so many ulp, or where its error is below `absolute`.
struct Approximation {
  uint32_t slot = 0, ulp = 0;
  float absolute = 0;
};

struct ProgramText {
  std::string name;  // family and seed
  Launch launch;
  std::vector<Line> lines;
  std::vector<Approximation> approximations;
};

// One instruction of assembled code.
struct Place {
  uint32_t word = 0, words = 0, unit = 0;
};

struct AssembledProgram {
  std::string name;
  Launch launch;
  std::vector<uint32_t> words;
  std::vector<Place> places;
  std::vector<Approximation> approximations;
  uint32_t memory_seed = 1;
};

ProgramText random_program(Family family, uint32_t seed);

}  // namespace orrery::shader::differential
