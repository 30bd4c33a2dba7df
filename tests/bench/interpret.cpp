// The interpreter on the demo's kernel: lane-instructions per second of one core.
#include <benchmark/benchmark.h>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "gpu-service/shader/interpret/interpreter.hpp"

extern "C" {
#include "orbits.h"
}

namespace orrery::bench {
namespace {

// Two ranges: the picture and the scene.
class Memory : public shader::interpret::GuestBytes {
 public:
  Memory(std::span<std::byte> picture, std::span<std::byte> scene) : ranges_{picture, scene} {}
  bool read(uint64_t address, std::span<std::byte> out) override {
    const std::byte* at = find(address, out.size());
    if (at != nullptr) std::memcpy(out.data(), at, out.size());
    return at != nullptr;
  }
  bool write(uint64_t address, std::span<const std::byte> bytes) override {
    std::byte* at = find(address, bytes.size());
    if (at != nullptr) std::memcpy(at, bytes.data(), bytes.size());
    return at != nullptr;
  }

 private:
  std::byte* find(uint64_t address, size_t size) const {
    for (const auto& range : ranges_) {
      const uint64_t offset = address - std::bit_cast<uint64_t>(range.data());
      if (offset <= range.size() && size <= range.size() - offset) return range.data() + offset;
    }
    return nullptr;
  }
  std::array<std::span<std::byte>, 2> ranges_;
};

void raymarch(benchmark::State& state) {
  const auto file =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "shader-corpus/raymarch.w32.bin";
  std::ifstream in(file, std::ios::binary);
  const std::string code((std::istreambuf_iterator<char>(in)), {});
  if (code.empty()) return state.SkipWithError("no shader-corpus/raymarch.w32.bin: build the target shader_corpus");
  std::vector<uint32_t> words(code.size() / 4);
  std::memcpy(words.data(), code.data(), words.size() * 4);
  const auto program = shader::read_program([&](uint32_t offset, uint32_t dwords) -> std::span<const uint32_t> {
    const size_t at = offset / 4;
    if (at >= words.size()) return {};
    return std::span(words).subspan(at, std::min<size_t>(dwords, words.size() - at));
  });
  if (!program) return state.SkipWithError(program.error().reason.c_str());

  constexpr uint32_t kWidth = 256, kHeight = 144;
  std::vector<uint32_t> picture(kWidth * kHeight);
  scene where{};
  const camera eye = first_camera();
  set_scene(&where, &eye, 1.0, kWidth, kHeight);
  const auto pixels = std::as_writable_bytes(std::span(picture));
  const auto bodies = std::as_writable_bytes(std::span(&where, 1));
  Memory memory(pixels, bodies);
  const auto frame = std::bit_cast<uint64_t>(pixels.data()), scene_at = std::bit_cast<uint64_t>(bodies.data());
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  shader::interpret::Dispatch dispatch;
  dispatch.program = &*program;
  dispatch.rsrc1 = 1613693641;
  dispatch.rsrc2 = 5012;  // both as compiled: 10 user SGPRs, group ids, thread ids in x and y
  // V#, scene, width, height, pitch, linear: as the title's packets have it.
  dispatch.user_data = {low(frame),
                        low(frame >> 32) & 0xffff,
                        low(pixels.size()),
                        0x31016fac,
                        low(scene_at),
                        low(scene_at >> 32),
                        kWidth,
                        kHeight,
                        kWidth,
                        0};
  dispatch.group_size = {8, 8, 1};
  dispatch.groups = {kWidth / 8, kHeight / 8, 1};
  uint64_t lanes = 0;
  for (auto _ : state) {
    const auto outcome = shader::interpret::run(dispatch, memory);
    if (outcome.refusal) return state.SkipWithError(outcome.refusal->reason.c_str());
    if (outcome.escapes.count != 0) return state.SkipWithError("it left its memory");
    lanes += outcome.lane_instructions;
  }
  state.counters["lane_instructions_per_second"] =
      benchmark::Counter(static_cast<double>(lanes), benchmark::Counter::kIsRate);
}
BENCHMARK(raymarch)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery::bench
