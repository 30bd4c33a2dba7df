// What a fuzzer of the protocol gives: the entry that libFuzzer calls, and inputs to start from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Valid inputs.
std::vector<std::vector<uint8_t>> fuzz_seeds();

// Takes an input apart.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const std::byte*>(data), size) {}
  bool empty() const { return rest_.empty(); }
  template <class T>
  T take() {
    T value{};
    const size_t some = rest_.size() < sizeof value ? rest_.size() : sizeof value;
    if (some != 0) std::memcpy(&value, rest_.data(), some);
    rest_ = rest_.subspan(some);
    return value;
  }
  std::span<const std::byte> bytes(size_t wanted) {
    const auto some = rest_.first(wanted < rest_.size() ? wanted : rest_.size());
    rest_ = rest_.subspan(some.size());
    return some;
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

inline std::vector<uint8_t> joined(std::initializer_list<std::span<const std::byte>> pieces) {
  std::vector<uint8_t> out;
  for (const auto piece : pieces) {
    for (const std::byte byte : piece) out.push_back(static_cast<uint8_t>(byte));
  }
  return out;
}
