// Runs a program in the interpreter and on a Vulkan device in every lane layout, and compares what is left in memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu-service/shader/translate.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "tests/gpu-service/shader/differential/random_program.hpp"

namespace orrery::shader::differential {

// One way to run a program on a device.
struct Variant {
  LaneLayout layout;
  bool bind = true;            // false: buffers are reached through the page table too
  bool lds_in_memory = false;  // as on a device without workgroup memory
  bool as_gpu = false;         // the code that a GPU gets, whose subgroups do not run in lockstep
  std::string text() const;
};

enum class Step : uint8_t { interpretation, translation, validation, run, memory };

struct Failure {
  Step step = Step::memory;
  Variant variant;
  uint32_t dword = 0, wanted = 0, got = 0;  // step memory
  std::string reason;                       // the others
  std::string text() const;
};

struct MachineOptions {
  uint32_t subgroup = 0;  // only layouts of this subgroup width; 0: all
  std::string layout;     // only layouts whose text() holds this
  // A whole wave in one invocation takes the driver very long: only programs of so many instructions, a
  // twentieth of it in wave64.
  uint32_t whole_wave_instructions = 0;
  bool unbound = false;                             // also with nothing bound
  bool lds_in_memory = false;                       // also with LDS in device memory
  bool as_gpu = false;                              // also what a GPU gets, in the layouts by subgroups
  std::function<void(HostFeatures&)> pretend = {};  // modules are made for a device that offers other things
};

class Machine {
 public:
  // The device must outlive it.
  Machine(const vulkan::Device& device, MachineOptions options) : device_(device), options_(std::move(options)) {}

  // For tests of the machine: changes the code that the device runs.
  using Change = std::function<void(std::vector<uint32_t>&)>;
  void change_device_code(Change change) { change_ = std::move(change); }

  // Nothing: all layouts give what the interpreter gives. Only one variant is run where one is given.
  std::optional<Failure> difference(const AssembledProgram& program, const Variant* only = nullptr);
  std::vector<Variant> variants(const AssembledProgram& program) const;

  // How many times each layout was run.
  const std::map<std::string, uint64_t>& runs() const { return runs_; }
  uint64_t compared_words() const { return compared_; }

 private:
  std::optional<Failure> run(const AssembledProgram& program, const std::vector<uint32_t>& wanted, const Variant& how);
  TranslateOptions options_for(const AssembledProgram& program, const Variant& how) const;

  const vulkan::Device& device_;
  MachineOptions options_;
  Change change_;
  std::map<std::string, uint64_t> runs_;
  uint64_t compared_ = 0;
};

// Memory at start.
std::vector<uint32_t> initial_memory(uint32_t seed);
// Where in memory a dword lies: "output of thread 5, v9".
std::string place_name(uint32_t dword);

}  // namespace orrery::shader::differential
