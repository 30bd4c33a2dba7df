// Runs whole dispatches of decoded programs on the host, lane by lane as the hardware would: the oracle for the
// translator, and later the host-run route. Independent of the IR and of SPIR-V.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/shader/interpret/address_slice.hpp"
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader::interpret {

// The guest's memory as the interpreter sees it. An implementation may record what is asked.
class GuestBytes {
 public:
  virtual ~GuestBytes() = default;
  // False when a byte of the range is unmapped; then nothing was read or written.
  virtual bool read(uint64_t address, std::span<std::byte> out) = 0;
  virtual bool write(uint64_t address, std::span<const std::byte> bytes) = 0;
  // An access of which only the place is known (StepUse::place_only): nothing is moved. False: a byte is unmapped.
  virtual bool touch(uint64_t /*address*/, uint64_t /*size*/, bool /*store*/) { return true; }
};

// One dispatch. Registers as in TranslateOptions; addresses are guest addresses.
struct Dispatch {
  const Program* program = nullptr;
  uint64_t program_address = 0;  // of the program's first byte: s_getpc reads it
  uint32_t wave = 32;
  uint32_t rsrc1 = 0, rsrc2 = 0;
  std::array<uint32_t, 16> user_data{};
  std::array<uint32_t, 3> group_size{1, 1, 1};
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::array<uint32_t, 3> first_group{};
  std::array<uint32_t, 3> threads{};  // total threads where the last groups are partial; 0: all groups are full
  // Private memory: dwords per lane. The interpreter keeps it outside guest memory and fills in what is named here.
  uint32_t scratch_dwords = 0;
  std::optional<uint32_t> private_buffer_sgpr;  // four user SGPRs: the V# of private memory
  std::optional<uint32_t> flat_scratch_sgpr;    // two user SGPRs: its address
  uint64_t step_limit = 1ull << 32;             // wave instructions of the whole dispatch
  std::span<const StepUse> uses;                // per instruction of the program (address_slice.hpp); empty: all whole
};

// Loads outside the map give 0, stores are dropped, as in translated programs (EscapeReport).
struct Escapes {
  uint64_t count = 0;
  uint32_t instruction = 0;  // program offset of the first
  uint64_t address = 0;
  bool is_store = false;
};

struct Outcome {
  std::optional<ShaderRefusal> refusal;  // the run stopped there
  Escapes escapes;
  uint64_t steps = 0;              // wave instructions
  uint64_t lane_instructions = 0;  // active lanes of vector instructions, and one per scalar instruction
};

// What `run` could not execute if it got there: every instruction without semantics, by name.
std::vector<ShaderRefusal> unsupported(const Program& program);
// Whether the interpreter has semantics for an opcode in the form that `instruction` has.
bool supports(const Instruction& instruction);

Outcome run(const Dispatch& dispatch, GuestBytes& memory);
// The same for some groups, by their numbers.
Outcome run_groups(const Dispatch& dispatch, std::span<const std::array<uint32_t, 3>> groups, GuestBytes& memory);

}  // namespace orrery::shader::interpret
