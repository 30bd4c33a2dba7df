// Reads the test description that piglit's OpenCL program tests carry in a comment: configuration, and per test the
// kernel, its sizes, its inputs and its expected outputs. The files are read where Debian's package put them, never
// copied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace orrery::opencl {

enum class Scalar : uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64 };
uint32_t bytes_of(Scalar scalar);

enum class Direction : uint8_t { in, out, inout };

struct Argument {
  Direction direction = Direction::in;
  uint32_t index = 0;
  bool buffer = false;  // false: passed by value
  Scalar scalar = Scalar::u32;
  uint32_t components = 1;  // 1, 2, 3, 4, 8, 16; a vector of 3 takes the room of 4
  uint32_t elements = 1;
  bool null = false;  // a null pointer (or local memory of that size)
  bool local = false;
  std::optional<std::vector<std::byte>> bytes;     // contents before (inputs); with the padding of 3-vectors
  std::optional<std::vector<std::byte>> expected;  // contents after (outputs)
  double tolerance = 0;
  bool tolerance_in_ulp = false;
  uint64_t size() const { return uint64_t{bytes_of(scalar)} * (components == 3 ? 4 : components) * elements; }
};

struct KernelTest {
  std::string name;
  std::string kernel;
  std::array<uint32_t, 3> global{1, 1, 1};
  std::optional<std::array<uint32_t, 3>> local;
  std::array<uint32_t, 3> offset{0, 0, 0};
  uint32_t dimensions = 1;
  bool expect_failure = false;
  std::vector<Argument> arguments;
};

struct TestFile {
  std::string build_options;
  uint32_t version = 10;  // least OpenCL C version, 10 = 1.0
  bool expect_build_failure = false;
  bool needs_images = false;
  std::vector<KernelTest> tests;
};

// Why a file (or one of its arguments) is not understood.
std::expected<TestFile, std::string> parse_program_test(const std::string& text);

// First difference of an output from its expectation, as text; nothing when they agree within the argument's tolerance.
std::optional<std::string> difference(const Argument& argument, const std::vector<std::byte>& got);

}  // namespace orrery::opencl
