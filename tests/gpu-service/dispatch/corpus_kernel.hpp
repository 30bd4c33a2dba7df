// One kernel of the shader corpus (tests/gpu-service/shader/corpus/README.md) and its launch: image, argument memory
// and dispatch packet placed in guest memory, user data as LLVM's calling convention has it.
#pragma once

#include <array>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "gpu-service/dispatch/executor.hpp"
#include "tests/gpu-service/dispatch/test_guest.hpp"

namespace orrery::dispatch {

struct CorpusArgument {
  uint32_t offset = 0, size = 0;
  std::string type;  // "pointer", "descriptor", "uint", "float", ...
};

struct CorpusKernel {
  std::string name;
  bool in_sgprs = false;  // arguments are user SGPRs (amdgpu_cs), not memory
  uint32_t entry = 0, rsrc1 = 0, rsrc2 = 0, rsrc3 = 0, wave = 32, lds = 0, private_bytes = 0, argument_bytes = 0;
  std::array<uint32_t, 3> group_size{};
  std::map<std::string, uint32_t> registers;
  std::vector<CorpusArgument> arguments;
  std::vector<std::byte> image;

  // `base` without suffix: BUILD/shader-corpus/saxpy.w32
  static Result<CorpusKernel> load(const std::string& base);
};

// A T# whose address is filled in; its texels go in and come back.
struct KernelImage {
  std::vector<std::byte>* texels = nullptr;
  std::array<uint32_t, 8> words{};
};
using KernelSampler = std::array<uint32_t, 4>;
// A buffer's bytes go in and come back; it is passed as an address or as a raw V#, as the kernel declares.
using KernelValue = std::variant<uint32_t, float, std::vector<std::byte>*, KernelImage, KernelSampler>;

struct KernelLaunch {
  std::array<uint32_t, 3> groups{1, 1, 1};
  std::array<uint32_t, 3> threads{};     // when not 0: launched by threads, with a partial last group
  std::array<uint32_t, 3> group_size{};  // when not 0: instead of the kernel's own
  uint32_t wave_scratch_kib = 0;         // when not 0: private memory of a wave, instead of what the kernel needs
};

// Runs the kernel through `executor` over `guest` (whose map it replaces) and brings the buffers back. Answers refusals
// and escapes as text, one a line; empty: it ran. Error: the arguments do not fit the kernel, or the device is lost.
Result<std::string> run_kernel(Executor& executor, TestGuest& guest, const CorpusKernel& kernel,
                               const KernelLaunch& launch, const std::vector<KernelValue>& values);

// Bytes of a vector of numbers and back.
template <class T>
std::vector<std::byte> bytes_of_numbers(const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}
template <class T>
std::vector<T> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

}  // namespace orrery::dispatch
