// libFuzzer: any bytes as a program, in any layout. The translator answers a module that spirv-val accepts or named
// refusals; it never hangs, aborts or reads outside what is mapped (the sanitizers watch). Input: fuzz_input.hpp.
#include <cstdio>
#include <cstdlib>

#include "tests/gpu-service/shader/fuzz/fuzz_input.hpp"
#include "tests/gpu-service/shader/spirv/validate.hpp"

namespace orrery::shader::fuzz {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check(const ShaderRefusal& refusal, size_t bytes) {
  require(!refusal.reason.empty(), "a refusal without a reason");
  require(!refusal.mnemonic.empty(), "a refusal without a mnemonic");
  require(refusal.offset <= bytes, "a refusal outside the program");
}

void run(std::span<const uint8_t> bytes) {
  const auto input = parse_input(bytes);
  if (!input) return;
  const size_t size = input->words.size() * 4;
  const auto program = read_program(
      [&](uint32_t offset, uint32_t dwords) {
        const auto all = std::span<const uint32_t>(input->words);
        if (offset / 4 >= all.size()) return std::span<const uint32_t>{};
        return all.subspan(offset / 4, std::min<size_t>(dwords, all.size() - offset / 4));
      },
      input->target);
  if (!program) return check(program.error(), size);
  const auto module = translate(*program, input->options);
  if (!module) {
    require(!module.error().empty(), "refused without a refusal");
    for (const ShaderRefusal& refusal : module.error()) check(refusal, size);
    return;
  }
  const std::string said = test::validate(module->spirv);
  if (!said.empty()) std::fprintf(stderr, "%.2000s\n", said.c_str());
  require(said.empty(), "spirv-val refuses the module");
}

}  // namespace
}  // namespace orrery::shader::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  orrery::shader::fuzz::run({data, size});
  return 0;
}
