#include "tests/gpu-service/shader/differential/interpreted.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/shader/interpret/interpreter.hpp"
#include "tests/gpu-service/shader/differential/assembly.hpp"
#include "tests/gpu-service/shader/differential/machine.hpp"
#include "tests/gpu-service/shader/differential/memory_map.hpp"

namespace orrery::shader::differential {
namespace {

constexpr uint64_t kCode = 0x4000;  // guest address of the program
constexpr uint64_t kMostSteps = 2'000'000;

// The program's memory, and its code, which may be read.
class Bytes : public interpret::GuestBytes {
 public:
  Bytes(std::vector<uint32_t>& memory, const std::vector<uint32_t>& code)
      : memory_(std::as_writable_bytes(std::span(memory))), code_(std::as_bytes(std::span(code))) {}
  bool read(uint64_t address, std::span<std::byte> out) override {
    std::span<const std::byte> from = part(memory_, address - kMemory, out.size());
    if (from.empty()) from = part(code_, address - kCode, out.size());
    std::copy(from.begin(), from.end(), out.begin());
    return !from.empty();
  }
  bool write(uint64_t address, std::span<const std::byte> in) override {
    const uint64_t at = address - kMemory;
    if (at >= memory_.size() || in.size() > memory_.size() - at) return false;
    std::copy(in.begin(), in.end(), memory_.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }

 private:
  static std::span<const std::byte> part(std::span<const std::byte> of, uint64_t at, size_t size) {
    if (at >= of.size() || size > of.size() - at) return {};
    return of.subspan(at, size);
  }
  std::span<std::byte> memory_;
  std::span<const std::byte> code_;
};

void describe(std::array<uint32_t, 16>& user, uint32_t sgpr, uint32_t offset, uint32_t bytes) {
  const uint64_t base = kMemory + offset;
  user[sgpr] = static_cast<uint32_t>(base);
  user[sgpr + 1] = static_cast<uint32_t>(base >> 32);
  user[sgpr + 2] = bytes;
  user[sgpr + 3] = 0xfac | 3u << 28;  // raw bounds
}

}  // namespace

std::array<uint32_t, 16> user_data() {
  std::array<uint32_t, 16> user{};
  for (uint32_t n = 0; n < 16; ++n) user[n] = 0x9e3779b9 * (n + 1);
  user[0] = static_cast<uint32_t>(kMemory);
  user[1] = static_cast<uint32_t>(kMemory >> 32);
  describe(user, 4, kInput, kInputBytes);
  describe(user, 8, 0, kMemoryBytes);
  describe(user, 12, kOwn, kShortBytes);
  return user;
}

uint32_t rsrc1_of(const Launch& launch) {
  return launch.float_mode << 12 | (launch.dx10_clamp ? 1u << 21 : 0u) | (launch.ieee ? 1u << 23 : 0u) | 63u;
}

uint32_t rsrc2_of(const Launch& launch) {
  return 16u << 1 | 1u << 7 | (launch.lds_bytes + 511) / 512 << 15 | (launch.scratch_dwords != 0 ? 1u : 0u);
}

std::expected<std::vector<uint32_t>, std::string> interpreted(const AssembledProgram& assembled) {
  const Program program = read(assembled);
  const Launch& launch = assembled.launch;
  interpret::Dispatch dispatch;
  dispatch.program = &program;
  dispatch.program_address = kCode;
  dispatch.wave = launch.wave;
  dispatch.rsrc1 = rsrc1_of(launch);
  dispatch.rsrc2 = rsrc2_of(launch);
  dispatch.user_data = user_data();
  dispatch.group_size = {launch.threads, 1, 1};
  dispatch.groups = {launch.groups, 1, 1};
  if (launch.total_threads != 0) dispatch.threads = {launch.total_threads, 1, 1};
  dispatch.scratch_dwords = launch.scratch_dwords;
  dispatch.step_limit = kMostSteps;
  std::vector<uint32_t> memory = initial_memory(assembled.memory_seed);
  Bytes bytes(memory, assembled.words);
  const interpret::Outcome outcome = interpret::run(dispatch, bytes);
  if (outcome.refusal) {
    return std::unexpected(
        fmt::format("{:#x} {}: {}", outcome.refusal->offset, outcome.refusal->mnemonic, outcome.refusal->reason));
  }
  return memory;
}

}  // namespace orrery::shader::differential
