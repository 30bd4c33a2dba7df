// A console without a title: guest memory, registry and libraries; functions are called by name as the guest would.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "guest-host/hle/console.hpp"
#include "guest-host/link/link.hpp"

namespace orrery::hle::test {

struct RunSettings {
  bool logical_clock = false;
  bool headless = true;
  uint64_t frames = 0;
  link::Link* link = nullptr;
};

class ConsoleRun {
 public:
  explicit ConsoleRun(RunSettings settings = {});
  ~ConsoleRun();

  // rax of the function; integers only, past the sixth on the stack.
  uint64_t call(const std::string& name, std::initializer_list<uint64_t> arguments);
  int32_t call32(const std::string& name, std::initializer_list<uint64_t> arguments) {
    return static_cast<int32_t>(call(name, arguments));
  }
  // The same for a binding that was looked up, with exactly 14 words.
  static uint64_t invoke(cpu::ImportBinding& binding, const std::vector<uint64_t>& arguments);

  // Zeroed guest memory.
  GuestAddress allocate(uint64_t bytes);
  template <class T>
  T read(GuestAddress from) {
    auto value = memory().read_value<T>(from);
    if (!value) throw std::runtime_error(value.error().describe());
    return *value;
  }
  template <class T>
  void write(GuestAddress to, T value) {
    if (auto done = memory().write_value(to, value); !done) throw std::runtime_error(done.error().describe());
  }

  memory::GuestMemory& memory() { return *memory_; }
  cpu::GuestProcess& process() { return process_; }
  Refusals& refusals() { return refusals_; }
  Registry& registry() { return registry_; }
  Console& console() { return *console_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unique_ptr<memory::GuestMemory> memory_;
  Refusals refusals_;
  cpu::GuestProcess process_;
  Environment environment_;
  Registry registry_;
  std::unique_ptr<Console> console_;
  std::vector<std::string> names_;
};

}  // namespace orrery::hle::test
