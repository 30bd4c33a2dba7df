#include "guest-host/memory/fault_watch.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <atomic>

namespace orrery::memory {

using namespace protocol;

namespace {

constexpr uint64_t kPage = 4096, kReach = kPageStateBytes * kPage;
// What is let go at once when the host has no mappings left to give (vm.max_map_count): ever larger aligned blocks.
constexpr uint64_t kBlocks[] = {kPage, 64 << 10, 2 << 20, 64 << 20};

uint8_t load(const uint8_t* state) {
  return std::atomic_ref(*const_cast<uint8_t*>(state)).load(std::memory_order_acquire);
}
void store(uint8_t* state, uint8_t value) { std::atomic_ref(*state).store(value, std::memory_order_release); }

int protection_of(uint8_t state, bool writable) {
  return PROT_READ | (writable ? PROT_WRITE : 0) | ((state & kPageExecutable) != 0 ? PROT_EXEC : 0);
}

bool protect(uint64_t begin, uint64_t end, int protection) {
  return ::mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

}  // namespace

void SpinLock::lock() noexcept {
  while (held_.exchange(true, std::memory_order_acquire)) ::sched_yield();
}

Result<FaultWatch> FaultWatch::create() {
  auto file = make_memory_file("orrery-page-states", {kPageStateBytes});
  if (!file) return std::unexpected(std::move(file.error()));
  auto states = Mapping::of(*file, {0}, {kPageStateBytes});
  if (!states) return std::unexpected(std::move(states.error()));
  return FaultWatch(std::move(*file), std::move(*states));
}

void FaultWatch::window_shown(uint64_t begin, uint64_t end, int host_protection) {
  uint8_t value = kPageMapped | kPageWritten;
  if ((host_protection & PROT_WRITE) != 0) value |= kPageWritable;
  if ((host_protection & PROT_EXEC) != 0) value |= kPageExecutable;
  for (uint64_t at = begin; at < end && at < kReach; at += kPage) store(state(at), value);
}

void FaultWatch::window_gone(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end && at < kReach; at += kPage) store(state(at), 0);
}

void FaultWatch::arm(uint64_t begin, uint64_t end) {
  const Change changing(*lock_);
  const uint8_t kind = load(state(begin)) & (kPageMapped | kPageWritable | kPageExecutable);
  for (uint64_t at = begin; at < end; at += kPage) store(state(at), kind | kPageArmed);
  if ((kind & kPageWritable) == 0 || protect(begin, end, protection_of(kind, false))) return;
  // Without mappings left the pages stay as they are, and count as written.
  for (uint64_t at = begin; at < end; at += kPage) store(state(at), kind | kPageWritten);
}

bool FaultWatch::on_write_fault(uint64_t address) noexcept {
  if (address >= kReach) return false;
  // Alone: a page that is being armed must not be let go, nor one armed that is let go.
  const Change changing(*lock_);
  const uint8_t here = load(state(address));
  if ((here & kPageWritable) == 0) return false;
  const uint8_t kind = here & (kPageMapped | kPageWritable | kPageExecutable);
  for (const uint64_t block : kBlocks) {
    // The block's part around the page that is of the same kind.
    uint64_t begin = address / kPage * kPage, end = begin + kPage;
    const uint64_t first = address / block * block, last = first + block;
    const auto same = [&](uint64_t at) {
      return (load(state(at)) & (kPageMapped | kPageWritable | kPageExecutable)) == kind;
    };
    while (begin > first && same(begin - kPage)) begin -= kPage;
    while (end < last && same(end)) end += kPage;
    // Noted first: what is written from then on must be known to be.
    for (uint64_t at = begin; at < end; at += kPage) store(state(at), kind | kPageWritten);
    if (protect(begin, end, protection_of(kind, true))) return true;
  }
  return false;
}

}  // namespace orrery::memory
