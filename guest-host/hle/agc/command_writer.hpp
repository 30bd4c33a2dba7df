// The command-buffer writer object that every builder takes first (layout measured on hardware), in guest memory.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "guest-host/hle/refusals.hpp"
#include "guest-host/memory/guest_memory.hpp"

namespace orrery::hle::agc {

struct WriterObject {
  uint64_t begin, end;
  uint64_t cursor;    // where the next packet goes
  uint64_t limit;     // first byte that is not ours
  uint64_t callback;  // called when space is short: bool (*)(object, dwords wanted, context)
  uint64_t context;
  uint32_t reserved_dwords;  // kept free before the limit
  uint32_t padding;
};
static_assert(sizeof(WriterObject) == 0x38);

// Calls a guest function from an import handler; answers rax.
using CallGuest = std::function<uint64_t(GuestAddress function, std::array<uint64_t, 6> arguments)>;

class CommandWriter {
 public:
  CommandWriter(memory::GuestMemory& memory, Refusals& refusals, CallGuest call)
      : memory_(memory), refusals_(refusals), call_(std::move(call)) {}

  // Writes `words` at the cursor and moves it by `advance` dwords (at least words.size()). Answers the packet's
  // address; 0 when there is no room even after the overflow callback, or the object or its buffer is not writable
  // memory.
  GuestAddress put(GuestAddress object, std::span<const uint32_t> words, uint64_t advance);
  GuestAddress put(GuestAddress object, std::span<const uint32_t> words) { return put(object, words, words.size()); }

 private:
  memory::GuestMemory& memory_;
  Refusals& refusals_;
  CallGuest call_;
};

}  // namespace orrery::hle::agc
