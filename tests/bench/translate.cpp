// Translation time per guest instruction: decode, structure, IR, SPIR-V, one thread.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu-service/shader/translate.hpp"
#include "tests/bench/synthetic_program.hpp"
#include "tests/gpu-service/shader/corpus/shader_corpus.hpp"

namespace orrery::bench {
namespace {

void translate_words(benchmark::State& state, const std::vector<uint32_t>& words,
                     const shader::TranslateOptions& options) {
  const shader::CodeFetch fetch = [&](uint32_t offset, uint32_t dwords) -> std::span<const uint32_t> {
    const size_t at = offset / 4;
    if (at >= words.size()) return {};
    return std::span(words).subspan(at, std::min<size_t>(dwords, words.size() - at));
  };
  size_t instructions = 0, spirv_words = 0;
  for (auto _ : state) {
    auto program = shader::read_program(fetch);
    if (!program) return state.SkipWithError(program.error().reason.c_str());
    auto module = shader::translate(*program, options);
    if (!module) {
      const auto& refusal = module.error().front();
      return state.SkipWithError((refusal.mnemonic + ": " + refusal.reason).c_str());
    }
    instructions = program->instructions.size();
    spirv_words = module->spirv.size();
    benchmark::DoNotOptimize(module);
  }
  const auto count = static_cast<double>(instructions);
  state.counters["instructions"] = count;
  state.counters["words_per_instruction"] = static_cast<double>(spirv_words) / count;
  state.counters["us_per_instruction"] =
      benchmark::Counter(count * 1e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

shader::TranslateOptions native() {
  shader::TranslateOptions options;
  options.layout = {32, 32, 1};
  options.group_size = {64, 1, 1};
  options.rsrc1 =
      0xf0u << 12 | 1u << 21 | 1u << 23;  // denormals kept, DX10_CLAMP, IEEE: what LLVM's kernels start with
  return options;
}

void straight(benchmark::State& state) {
  translate_words(state, straight_line(static_cast<uint32_t>(state.range(0))), native());
}
BENCHMARK(straight)->Arg(16)->Arg(64)->Arg(256)->Arg(330)->Arg(1024)->Arg(5131)->Arg(10000)->Unit(
    benchmark::kMicrosecond);

void ifs(benchmark::State& state) {
  translate_words(state, nested_ifs(static_cast<uint32_t>(state.range(0)), 10), native());
}
BENCHMARK(ifs)->Arg(16)->Arg(64)->Arg(256)->Arg(500)->Unit(benchmark::kMicrosecond);

// As the service has it.
const bool kKeepsMemory = mallopt(M_TRIM_THRESHOLD, 128 << 20) != 0 && mallopt(M_MMAP_THRESHOLD, 32 << 20) != 0;

// The compiled kernels, where the build has them.
const bool kCorpus = [] {
  const std::filesystem::path folder = shader_corpus();
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    if (file.path().extension() != ".bin") continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    std::vector<uint32_t> words(bytes.size() / 4);
    std::copy_n(bytes.data(), words.size() * 4, reinterpret_cast<char*>(words.data()));
    const std::string name = file.path().stem().string();
    shader::TranslateOptions options = native();
    options.layout = name.ends_with(".w64") ? shader::LaneLayout{64, 32, 2} : shader::LaneLayout{32, 32, 1};
    options.rsrc2 = 0x1u << 15 | 8u << 1 | 0x80;  // 8 user SGPRs, group id x, some LDS
    benchmark::RegisterBenchmark(("corpus/" + name).c_str(), [words, options](benchmark::State& state) {
      translate_words(state, words, options);
    })->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
}  // namespace orrery::bench
