#include "guest-host/hle/arguments.hpp"

namespace orrery::hle {

namespace {

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Offsets in a SysV va_list and in its register save area (six integers, then eight 16-byte vectors).
constexpr size_t kOverflow = 8, kRegisters = 16;
constexpr uint32_t kIntegersEnd = 48, kVectorsEnd = 176;

uint64_t next_of_list(std::byte* list, size_t offset_field, uint32_t end, uint32_t step) {
  const auto offset = load<uint32_t>(list + offset_field);
  if (offset < end) {
    const auto* registers = load<const std::byte*>(list + kRegisters);
    const uint32_t next = offset + step;
    std::memcpy(list + offset_field, &next, sizeof next);
    return load<uint64_t>(registers + offset);
  }
  const auto* overflow = load<const std::byte*>(list + kOverflow);
  const auto* const next = overflow + 8;
  std::memcpy(list + kOverflow, &next, sizeof next);
  return load<uint64_t>(overflow);
}

}  // namespace

uint64_t VariableArguments::next_integer() {
  if (list_ != nullptr) return next_of_list(list_, 0, kIntegersEnd, 8);
  if (integers_ < 6) return frame_->integer[integers_++];
  return load<uint64_t>(reinterpret_cast<const void*>(frame_->guest_stack + 8 * (1 + uint64_t{stack_++})));
}

double VariableArguments::next_double() {
  if (list_ != nullptr) return std::bit_cast<double>(next_of_list(list_, 4, kVectorsEnd, 16));
  if (vectors_ < 8) return std::bit_cast<double>(frame_->vector[vectors_++][0]);
  return std::bit_cast<double>(
      load<uint64_t>(reinterpret_cast<const void*>(frame_->guest_stack + 8 * (1 + uint64_t{stack_++}))));
}

long double VariableArguments::next_long_double() {
  if (list_ != nullptr) {
    const auto place = align_up(load<uint64_t>(list_ + kOverflow), 16);
    const uint64_t next = place + 16;
    std::memcpy(list_ + kOverflow, &next, sizeof next);
    return load<long double>(reinterpret_cast<const void*>(place));
  }
  stack_ = (stack_ + 1) & ~1u;  // the first stack argument is 16-byte aligned
  const uint64_t place = frame_->guest_stack + 8 * (1 + uint64_t{stack_});
  stack_ += 2;
  return load<long double>(reinterpret_cast<const void*>(place));
}

}  // namespace orrery::hle
