#include "tests/guest-host/hle/console_run.hpp"

#include <cstring>

namespace orrery::hle::test {
namespace {

std::unique_ptr<memory::GuestMemory> make_memory() {
  auto made = memory::GuestMemory::create(Bytes{256ull << 20});
  if (!made) throw std::runtime_error(made.error().describe());
  return std::move(*made);
}

}  // namespace

ConsoleRun::ConsoleRun(RunSettings settings)
    : memory_(make_memory()),
      process_(*memory_, refusals_, cpu::FsPolicy::arch_prctl),
      environment_{.memory = *memory_, .process = process_, .refusals = refusals_} {
  environment_.link = settings.link;
  environment_.logical_clock = settings.logical_clock;
  console_ = std::make_unique<Console>(environment_, ConsoleOptions{settings.headless, settings.frames});
  console_->add_libraries(registry_);
  registry_.for_each([&](cpu::ImportBinding& binding) { names_.push_back(binding.name); });
}

ConsoleRun::~ConsoleRun() { console_->stop(); }

uint64_t ConsoleRun::invoke(cpu::ImportBinding& binding, const std::vector<uint64_t>& arguments) {
  // The stack as at the import's entry: the return address, then the arguments past the sixth.
  uint64_t stack[16] = {};
  cpu::CallFrame frame{};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i < 6) {
      frame.integer[i] = arguments[i];
    } else {
      stack[1 + i - 6] = arguments[i];
    }
  }
  frame.guest_stack = reinterpret_cast<uint64_t>(stack);
  frame.binding = &binding;
  binding.invoke(&frame);
  return frame.result;
}

uint64_t ConsoleRun::call(const std::string& name, std::initializer_list<uint64_t> arguments) {
  auto* binding = registry_.find_name(name);
  if (binding == nullptr) throw std::runtime_error("nobody serves " + name);
  return invoke(*binding, arguments);
}

GuestAddress ConsoleRun::allocate(uint64_t bytes) {
  memory::MapRequest request;
  request.size = Bytes{bytes};
  request.protection = memory::kCpuRead | memory::kCpuWrite | memory::kGpuRead | memory::kGpuWrite;
  auto address = memory_->map(request);
  if (!address) throw std::runtime_error(address.error().describe());
  return *address;
}

}  // namespace orrery::hle::test
