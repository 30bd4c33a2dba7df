// One call of an import by the guest: its registers as they were, and what goes back. Made on the host stack by
// crossing.S, which knows these offsets (asm_layout.h).
#pragma once

#include <cstdint>
#include <string>

namespace orrery::cpu {

struct CallFrame;
struct ThreadRecord;

// What an import is bound to. `invoke` is the first word: the assembly calls it.
struct ImportBinding {
  void (*invoke)(CallFrame*) = nullptr;
  std::string library;
  std::string name;  // the function's name, or its NID when no name is known
};

struct alignas(16) CallFrame {
  uint64_t integer[6];    // rdi rsi rdx rcx r8 r9
  uint64_t vector[8][2];  // xmm0..7; xmm0 also goes back
  uint64_t guest_stack;   // rsp at the import's entry: holds the return address, stack arguments follow
  uint64_t guest_return;  // where the guest goes on
  uint64_t guest_frame;   // rbp, for backtraces
  ImportBinding* binding;
  CallFrame* outer;  // the import call inside which the guest was called back
  ThreadRecord* thread;
  uint64_t result;       // rax
  uint64_t result_high;  // rdx
  uint64_t leave;        // not 0: the guest thread ends instead of returning
  uint64_t padding;
};

}  // namespace orrery::cpu
