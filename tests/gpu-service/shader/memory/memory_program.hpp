// Whole programs of a few instructions, run in the interpreter and, translated, on a Vulkan device in every lane layout
// that it offers; what they leave in memory must be the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace orrery::shader::memory_test {

// Where a program's memory lies in the guest: whole pages, nothing mapped around them.
inline constexpr uint64_t kMemory = 0x12'3450'0000;

struct MemoryProgram {
  std::string text;                   // assembly; s_endpgm is added. {m}: vcc_lo or vcc, by the wave's width
  std::string processor = "gfx1013";  // or gfx1030
  uint32_t threads = 0;               // of a group; 0: one wave
  uint32_t groups = 1;
  uint32_t lds_bytes = 0;
  uint32_t scratch_dwords = 0;
  std::map<uint32_t, uint32_t> sgprs;  // user data; s[0:1] is kMemory where nothing else is said
  std::vector<uint32_t> memory;        // filled up to whole pages with zeros
  bool both_widths = true;             // wave32 and wave64; false: wave32
  bool whole_wave = true;              // also with the wave in one invocation
  bool exchange = false;               // also with lanes that exchange through workgroup memory; slow to compile
  bool addressed = true;               // also with nothing bound
  uint32_t compared = 0;               // dwords compared; 0: all
  bool only_narrow = false;            // one lane layout for each width
  bool lds_homes = false;              // also as on a device without workgroup memory: LDS in device memory
  bool constants = false;              // also with what V#s say given when the pipeline is made
};

// Registers at start: s0..s15 user data, s16 group number, v0 thread in group.
// The first difference, or what went wrong; empty when there is none.
std::string difference(const MemoryProgram& program);
// Whether LDS of this program lies in device memory on the device as it is, by subgroup layout of wave32.
bool lds_in_memory(const MemoryProgram& program);
// LDS of this program as views of two widths, as a device that offers them has it: what is wrong with the modules of
// all subgroup layouts; empty when they are valid.
std::string invalid_as_views(const MemoryProgram& program);
// The translator's refusals on a device without 64-bit atomics.
std::string refusals_without_wide_atomics(const MemoryProgram& program);
// Memory as the interpreter leaves it in wave32, for tests that know what is right. Throws where it refuses.
std::vector<uint32_t> interpreted(const MemoryProgram& program, uint32_t wave = 32);
// EscapeReport::image_refusal of a run of wave32; throws where the program can't be run.
uint32_t image_refusal_note(const MemoryProgram& program);
// What stopped the interpreter, empty: nothing.
std::string interpreter_refusal(const MemoryProgram& program);
// The translator's refusals, one per line; empty when there is none.
std::string refusals(const MemoryProgram& program);

// A V# for memory from byte `offset` of kMemory on, as SGPRs 4..7. `third` is OR-ed into the fourth word: format << 12,
// index stride << 21, add-tid << 23; DST_SEL is x, y, z, w.
struct Descriptor {
  uint32_t offset = 0, stride = 0, records = 0, check = 3, third = 0;
  bool swizzle = false;
};
void describe(MemoryProgram& program, const Descriptor& descriptor);

// Edge cases between random bits.
std::vector<uint32_t> random_words(uint32_t seed, size_t count);

}  // namespace orrery::shader::memory_test
