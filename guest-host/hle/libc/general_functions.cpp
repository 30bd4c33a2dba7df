#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "guest-host/cpu/guest_thread.hpp"
#include "guest-host/hle/libc/library.hpp"
#include "shared/log.hpp"

namespace orrery::hle::libc {

namespace {

// Functions to run at exit, last registered first.
class ExitFunctions {
 public:
  void add(GuestAddress function) {
    const std::lock_guard lock(mutex_);
    functions_.push_back(function);
  }
  void run(cpu::GuestThread& thread) {
    while (const auto next = take()) thread.call(*next, {});
  }

 private:
  std::optional<GuestAddress> take() {
    const std::lock_guard lock(mutex_);
    if (functions_.empty()) return {};
    const GuestAddress last = functions_.back();
    functions_.pop_back();
    return last;
  }
  std::mutex mutex_;
  std::vector<GuestAddress> functions_;
};

// Sorts by merging, whatever the guest's comparison answers: no access outside the array even if it contradicts itself.
void sort(std::byte* base, size_t count, size_t size, GuestAddress compare) {
  if (count < 2 || size == 0) return;
  auto& thread = *cpu::GuestThread::current();
  std::vector<std::byte> scratch(count * size);
  const auto not_after = [&](const std::byte* a, const std::byte* b) {
    const std::array<uint64_t, 6> arguments{reinterpret_cast<uint64_t>(a), reinterpret_cast<uint64_t>(b)};
    return static_cast<int32_t>(thread.call(compare, arguments)) <= 0;
  };
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      const size_t middle = std::min(low + width, count), high = std::min(low + 2 * width, count);
      size_t left = low, right = middle;
      for (size_t to = low; to < high; ++to) {
        const bool take_left = left < middle && (right >= high || not_after(base + left * size, base + right * size));
        const size_t from = take_left ? left++ : right++;
        std::memcpy(scratch.data() + to * size, base + from * size, size);
      }
    }
    std::memcpy(base, scratch.data(), count * size);
  }
}

}  // namespace

void add_general_functions(Registry& registry, Environment& env) {
  const auto at_exit = std::make_shared<ExitFunctions>();
  registry.add(kLibrary, "atexit", [at_exit](GuestAddress function) {
    at_exit->add(function);
    return 0;
  });
  registry.add(kLibrary, "exit", [at_exit, &env](int code) {
    if (auto* const thread = cpu::GuestThread::current()) at_exit->run(*thread);
    env.process.exit_title(code);
  });
  registry.add(kLibrary, "abort", [&env](cpu::CallFrame& frame) {
    log::error("the title called abort from {}", env.process.describe(GuestAddress{frame.guest_return}));
    env.process.end_and_wait({static_cast<int>(ExitCode::guest_fault)});
  });
  registry.add(kLibrary, "atoi", [](const char* text) { return std::atoi(text); });
  registry.add(kLibrary, "strtol", [](const char* text, char** end, int base) { return std::strtol(text, end, base); });
  registry.add(kLibrary, "strtoul",
               [](const char* text, char** end, int base) { return std::strtoul(text, end, base); });
  registry.add(kLibrary, "strtod", [](const char* text, char** end) { return std::strtod(text, end); });
  registry.add(kLibrary, "qsort", [](std::byte* base, size_t count, size_t size, GuestAddress compare) {
    sort(base, count, size, compare);
  });
}

}  // namespace orrery::hle::libc
