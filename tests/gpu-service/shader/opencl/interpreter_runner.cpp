#include <fmt/format.h>

#include "gpu-service/dispatch/launch_geometry.hpp"
#include "gpu-service/shader/interpret/interpreter.hpp"
#include "tests/gpu-service/shader/opencl/runners.hpp"

namespace orrery::opencl {
namespace {

class SmallGuestBytes : public shader::interpret::GuestBytes {
 public:
  explicit SmallGuestBytes(memory::GuestMemory& memory) : memory_(memory) {}
  bool read(uint64_t address, std::span<std::byte> out) override { return memory_.read({address}, out).has_value(); }
  bool write(uint64_t address, std::span<const std::byte> bytes) override {
    return memory_.write({address}, bytes).has_value();
  }

 private:
  memory::GuestMemory& memory_;
};

std::string text_of(const shader::ShaderRefusal& refusal) {
  return fmt::format("offset {:#x}: {}: {}", refusal.offset, refusal.mnemonic, refusal.reason);
}

std::vector<std::string> interpret(SmallGuest& guest, const Launch& launch) {
  const auto geometry = dispatch::launch_geometry(launch.state);
  if (!geometry) return {geometry.error()};
  std::vector<uint32_t> words(launch.code_bytes / 4);
  const auto bytes = std::as_writable_bytes(std::span(words));
  if (auto read = guest.memory().read(launch.state.program, bytes); !read) return {read.error().describe()};
  const auto program = shader::read_program([&](uint32_t offset, uint32_t dwords) {
    const auto all = std::span<const uint32_t>(words);
    const size_t first = offset / 4;
    return first < all.size() ? all.subspan(first, std::min<size_t>(dwords, all.size() - first))
                              : std::span<const uint32_t>{};
  });
  if (!program) return {text_of(program.error())};
  shader::interpret::Dispatch run;
  run.program = &*program;
  run.program_address = launch.state.program.value;
  run.wave = geometry->wave;
  run.rsrc1 = launch.state.rsrc1;
  run.rsrc2 = launch.state.rsrc2;
  run.user_data = launch.state.user_data;
  run.group_size = geometry->group_size;
  run.groups = geometry->count;
  run.first_group = geometry->first;
  run.threads = geometry->threads;
  if (geometry->scratch) {
    run.scratch_dwords = geometry->scratch_wave_bytes / 4 / geometry->wave;
    if (launch.private_buffer) run.private_buffer_sgpr = 0;
  }
  SmallGuestBytes memory(guest.memory());
  const auto outcome = shader::interpret::run(run, memory);
  if (outcome.refusal) return {text_of(*outcome.refusal)};
  if (outcome.escapes.count != 0) {
    return {fmt::format("escape: offset {:#x}: {} {:#x}, which is not mapped", outcome.escapes.instruction,
                        outcome.escapes.is_store ? "stored to" : "loaded from", outcome.escapes.address)};
  }
  return {};
}

}  // namespace

Runner interpreter_runner(SmallGuest& guest) {
  return [&guest](const Launch& launch) { return interpret(guest, launch); };
}

}  // namespace orrery::opencl
