// Runs one kernel of a code object as a queue would: a small guest memory with code, kernel arguments, dispatch packet
// and buffers; the dispatch state; and back the buffers' contents.
#pragma once

#include <functional>

#include "gpu-service/dispatch/executor.hpp"
#include "gpu-service/memory/guest_memory.hpp"
#include "tests/gpu-service/shader/opencl/code_object.hpp"
#include "tests/gpu-service/shader/opencl/program_test_file.hpp"
#include "tests/gpu-service/shader/opencl/workers.hpp"

namespace orrery::opencl {

// A small arena with one mapped range, and the map that says so.
class SmallGuest {
 public:
  static constexpr uint64_t kBase = 0x3'0000'0000, kSize = 64ull << 20;
  SmallGuest();
  memory::GuestMemory& memory() { return *memory_; }
  // A fresh layout: everything that was placed is forgotten.
  void clear() { next_ = kBase; }
  // Room for `size` bytes, with unused bytes before and behind it.
  GuestAddress place(uint64_t size, uint64_t alignment = 256);

 private:
  Mapping arena_;
  std::vector<uint64_t> map_bytes_;
  std::optional<memory::GuestMemory> memory_;
  uint64_t next_ = kBase;
};

struct Launch {
  dispatch::DispatchState state;
  std::vector<GuestAddress> buffers;  // per argument of the test; 0 where there is none
  uint64_t code_bytes = 0;            // of the image, from the program on
  bool private_buffer = false;        // user data 0..3 are private memory's descriptor
};

// Places everything for one test. Error: what the launch can't express.
std::expected<Launch, std::string> prepare_launch(SmallGuest& guest, const CodeObject& object, const Kernel& kernel,
                                                  const KernelTest& test);

// Runs a prepared dispatch to its end; answers refusals as text.
using Runner = std::function<std::vector<std::string>(const Launch&)>;

// Whether every output is as expected, and what is not.
Verdict run_test(SmallGuest& guest, const CodeObject& object, const KernelTest& test, const Runner& runner);

// The group size of a test: its own, the kernel's, or where neither names one the widest row up to 64.
std::array<uint32_t, 3> group_size_of(const KernelTest& test, const Kernel& kernel);

}  // namespace orrery::opencl
