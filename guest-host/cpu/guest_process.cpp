#include "guest-host/cpu/guest_process.hpp"

#include <unistd.h>

#include "shared/log.hpp"

namespace orrery::cpu {

void GuestProcess::add_module(ModuleRange module) {
  const std::lock_guard lock(mutex_);
  modules_.push_back({std::move(module), newest_.load()});
  newest_.store(&modules_.back(), std::memory_order_release);
}

const ModuleRange* GuestProcess::module_at(GuestAddress address) const {
  for (const Module* at = newest_.load(std::memory_order_acquire); at != nullptr; at = at->older) {
    if (address >= at->range.begin && address < at->range.end) return &at->range;
  }
  return nullptr;
}

std::string GuestProcess::describe(GuestAddress address) const {
  const ModuleRange* const module = module_at(address);
  if (module == nullptr) return fmt::format("{:#x}", address.value);
  return fmt::format("{}+{:#x}", module->name, (address - module->begin).value);
}

void GuestProcess::end(RunEnd end) {
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_) return;
    has_ended_ = true;
    end_ = end;
    exit_code_.store(end.exit_code);
  }
  ended_.notify_all();
}

void GuestProcess::end_and_wait(RunEnd end_of_run) {
  end(end_of_run);
  for (;;) ::pause();
}

void GuestProcess::exit_title(int code) {
  // A failure stays one: what is not 0 is never reported as 0.
  const int reported = code >= 0 && code < 64 ? code : 63;
  if (reported != code) log::warn("the title exits with {}, reported as {}", code, reported);
  end_and_wait({reported});
}

RunEnd GuestProcess::wait_for_end() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return has_ended_; });
  return end_;
}

}  // namespace orrery::cpu
