// The slice of a program's scalar code that computes a value: a small program without branches over user data,
// constants and guest memory. Extracted once per program (semantics/descriptor_trace), evaluated once per dispatch on
// the host.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "gpu-service/shader/ir/value.hpp"

namespace orrery::shader {

// One value, made of earlier ones.
struct SliceStep {
  ir::Op op = ir::Op::constant;
  ir::Type type = ir::Type::u32;
  uint16_t count = 0;              // operands
  std::array<uint16_t, 3> args{};  // indices of earlier steps
  // constant: its bits. user_data, code_address, component: the index. load: the byte offset (signed, 32 bits), and the
  // dwords (1 to 4) above it; its operands are the condition (false: it gives 0 and reads nothing) and the address.
  uint64_t imm = 0;
  friend bool operator==(const SliceStep&, const SliceStep&) = default;
};
inline constexpr size_t kMostSliceSteps = 512;

constexpr uint64_t load_imm(int32_t offset, uint32_t dwords) {
  return uint64_t{dwords} << 32 | static_cast<uint32_t>(offset);
}

// What a slice computes from.
struct SliceInput {
  std::span<const uint32_t> user_data;
  uint64_t code_address = 0;  // of the program's first byte
  // Copies guest memory out; false: not mapped.
  std::function<bool(uint64_t address, std::span<std::byte> out)> read;
};

struct SliceError {
  enum class Kind : uint8_t { unmapped, malformed } kind = Kind::malformed;
  uint64_t value = 0;  // unmapped: the address
};

// Values of the steps `wanted`, low bits. Only what they need is computed: the arm that a select does not choose and a
// load whose condition is false touch no memory. Malformed: an operation that slices do not have, or an operand that is
// no earlier step.
std::expected<std::array<uint64_t, 4>, SliceError> evaluate(std::span<const SliceStep> steps,
                                                            const std::array<uint16_t, 4>& wanted,
                                                            const SliceInput& input);

// Operations that `evaluate` has, for values of this type.
bool sliceable(ir::Op op, ir::Type type);

// Where a descriptor's four dwords come from.
struct DescriptorSource {
  std::vector<SliceStep> steps;
  std::array<uint16_t, 4> words{};  // the steps that are its dwords

  // User data words `first` to `first` + 3.
  static DescriptorSource user(uint32_t first);
  // The pointer in user data words `first` and `first` + 1 is followed: at each offset, address += offset, and all but
  // the last read a pointer there; at the last lies the descriptor.
  static DescriptorSource chain(uint32_t first, std::initializer_list<uint32_t> offsets);
  bool reads_memory() const;
  friend bool operator==(const DescriptorSource&, const DescriptorSource&) = default;
};

// Where a T#'s eight dwords come from.
struct ImageSource {
  DescriptorSource low, high;
  friend bool operator==(const ImageSource&, const ImageSource&) = default;
};

// What ended the way back from a descriptor or address, so that only running the program tells it.
enum class TraceEnd : uint8_t { group, wave, lanes, loop, paths, operation, undefined, too_long };
const char* text(TraceEnd end);

}  // namespace orrery::shader
