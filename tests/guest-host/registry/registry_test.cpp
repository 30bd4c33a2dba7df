#include "guest-host/hle/registry.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <bit>

namespace orrery::hle {
namespace {

// A call as crossing.S would hand it over; the stack holds a return address and then arguments.
struct Call {
  cpu::CallFrame frame{};
  std::array<uint64_t, 16> stack{};
  Call() { frame.guest_stack = reinterpret_cast<uint64_t>(stack.data()); }
  void run(cpu::ImportBinding* binding) {
    frame.binding = binding;
    binding->invoke(&frame);
  }
  void set_double(size_t i, double value) { frame.vector[i][0] = std::bit_cast<uint64_t>(value); }
  void set_float(size_t i, float value) { frame.vector[i][0] = std::bit_cast<uint32_t>(value); }
};

enum class Mode : uint32_t { fast = 3 };

TEST(Registry, arguments_come_from_the_registers_of_their_class_and_then_from_the_stack) {
  Registry registry;
  std::string got;
  registry.add("lib", "many",
               [&](int a, double x, uint64_t b, float y, int8_t c, bool d, uint16_t e, GuestAddress f, int g, Mode h,
                   const char* i) {
                 got = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", a, x, b, y, static_cast<int>(c), d, e, f.value,
                                   g, static_cast<int>(h), i);
               });
  Call call;
  const uint64_t registers[6] = {0xffff'ffff'ffff'fffe, 7, 0x1fe, 0x100, 0x12345, 0x4000};
  std::ranges::copy(registers, call.frame.integer);
  call.set_double(0, 1.5);
  call.set_float(1, 2.5f);
  call.stack = {0, 0xffff'ffff, 3, reinterpret_cast<uint64_t>("text")};
  call.run(registry.find_name("many"));
  EXPECT_EQ(got, "-2 1.5 7 2.5 -2 false 9029 16384 -1 3 text");
}

TEST(Registry, results_go_back_in_the_register_of_their_class) {
  Registry registry;
  registry.add("lib", "negative", [] { return -5; });
  registry.add("lib", "real", [] { return 2.5; });
  registry.add("lib", "short_real", [] { return 2.5f; });
  registry.add("lib", "nothing", [] {});
  Call call;
  call.run(registry.find_name("negative"));
  EXPECT_EQ(static_cast<int32_t>(call.frame.result), -5);
  call.run(registry.find_name("nothing"));
  EXPECT_EQ(call.frame.result, 0u);
  call.run(registry.find_name("real"));
  EXPECT_EQ(std::bit_cast<double>(call.frame.vector[0][0]), 2.5);
  call.run(registry.find_name("short_real"));
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(call.frame.vector[0][0])), 2.5f);
}

TEST(Registry, variable_arguments_follow_the_named_ones) {
  Registry registry;
  std::string got;
  registry.add("lib", "variable", [&](int, VariableArguments rest) {
    for (int i = 0; i < 7; ++i) got += fmt::format("{} ", rest.next_integer());
    for (int i = 0; i < 9; ++i) got += fmt::format("{} ", rest.next_double());
  });
  Call call;
  for (uint64_t i = 0; i < 6; ++i) call.frame.integer[i] = i;
  for (size_t i = 0; i < 8; ++i) call.set_double(i, static_cast<double>(i) + 0.5);
  call.stack = {0, 6, 7, std::bit_cast<uint64_t>(8.5)};
  call.run(registry.find_name("variable"));
  EXPECT_EQ(got, "1 2 3 4 5 6 7 0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 ");
}

TEST(Registry, the_librarys_own_handler_comes_first_and_any_library_will_do) {
  Registry registry;
  registry.add("libA", "same", [] { return 1; });
  registry.add("libB", "same", [] { return 2; });
  Call call;
  call.run(registry.find("libB", nid_of("same")));
  EXPECT_EQ(call.frame.result, 2u);
  call.run(registry.find("libA", nid_of("same")));
  EXPECT_EQ(call.frame.result, 1u);
  EXPECT_NE(registry.find("libC", nid_of("same")), nullptr);
  EXPECT_EQ(registry.find("libA", nid_of("other")), nullptr);
}

TEST(Registry, an_exception_of_a_handler_becomes_an_error_for_the_title) {
  Registry registry;
  registry.add("lib", "throws", []() -> int { throw std::bad_alloc(); });
  Call call;
  call.run(registry.find_name("throws"));
  EXPECT_EQ(static_cast<uint32_t>(call.frame.result), 0x8002000cu);
}

}  // namespace
}  // namespace orrery::hle
