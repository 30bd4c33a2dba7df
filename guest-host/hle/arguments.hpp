// Typed arguments of an import call, read from the guest's registers and stack as the System V ABI lays them out.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "guest-host/cpu/call_frame.hpp"
#include "shared/quantity.hpp"

namespace orrery::hle {

// The variable arguments of a printf-like call: either of the import call itself, or of a guest va_list.
class VariableArguments {
 public:
  // What follows `integers` integer and `vectors` floating-point arguments and `stack` words on the stack.
  VariableArguments(const cpu::CallFrame& frame, unsigned integers, unsigned vectors, unsigned stack)
      : frame_(&frame), integers_(integers), vectors_(vectors), stack_(stack) {}
  // A guest va_list: { u32 gp_offset, u32 fp_offset, void* overflow, void* registers }.
  explicit VariableArguments(void* guest_va_list) : list_(static_cast<std::byte*>(guest_va_list)) {}

  uint64_t next_integer();
  double next_double();
  // 80-bit extended precision: always on the stack, 16-byte aligned.
  long double next_long_double();

 private:
  const cpu::CallFrame* frame_ = nullptr;
  std::byte* list_ = nullptr;
  unsigned integers_ = 0, vectors_ = 0, stack_ = 0;
};

class ArgumentReader {
 public:
  explicit ArgumentReader(cpu::CallFrame& frame) : frame_(frame) {}

  template <class T>
  T next() {
    if constexpr (std::is_same_v<T, cpu::CallFrame&>) {
      return frame_;
    } else if constexpr (std::is_same_v<T, VariableArguments>) {
      return VariableArguments(frame_, integers_, vectors_, stack_);
    } else if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<float>(static_cast<uint32_t>(vector_word()));
    } else if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<double>(vector_word());
    } else if constexpr (std::is_same_v<T, GuestAddress>) {
      return GuestAddress{integer_word()};
    } else if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(integer_word());
    } else if constexpr (std::is_same_v<T, bool>) {
      return (integer_word() & 0xff) != 0;
    } else {
      static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "not a type that a guest passes in a register");
      return static_cast<T>(integer_word());
    }
  }

 private:
  uint64_t integer_word() { return integers_ < 6 ? frame_.integer[integers_++] : stack_word(); }
  uint64_t vector_word() { return vectors_ < 8 ? frame_.vector[vectors_++][0] : stack_word(); }
  uint64_t stack_word() {
    uint64_t word;
    std::memcpy(&word, reinterpret_cast<const void*>(frame_.guest_stack + 8 * (1 + uint64_t{stack_++})), sizeof word);
    return word;
  }

  cpu::CallFrame& frame_;
  unsigned integers_ = 0, vectors_ = 0, stack_ = 0;
};

template <class T>
void store_result(cpu::CallFrame& frame, T value) {
  if constexpr (std::is_same_v<T, float>) {
    frame.vector[0][0] = std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    frame.vector[0][0] = std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<T, GuestAddress>) {
    frame.result = value.value;
  } else if constexpr (std::is_pointer_v<T>) {
    frame.result = reinterpret_cast<uint64_t>(value);
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "not a type that a guest gets in a register");
    frame.result = static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

}  // namespace orrery::hle
