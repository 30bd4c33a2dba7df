// Where random programs keep what, in bytes from the start of their memory.
#pragma once

#include <cstdint>

namespace orrery::shader::differential {

inline constexpr uint64_t kMemory = 0x12'3450'0000;  // guest address
inline constexpr uint32_t kMostThreads = 256;        // of a dispatch, counting the lanes that a last wave lacks

inline constexpr uint32_t kInput = 0, kInputBytes = 0x1000;  // read only
inline constexpr uint32_t kOwn = 0x1000, kOwnBytes = 64;     // of each thread
inline constexpr uint32_t kShortBytes = 250;                 // from kOwn on, of a descriptor that ends within a dword
inline constexpr uint32_t kExchange = 0x5000;                // a dword of each thread: its wave's lanes meet
inline constexpr uint32_t kAtomics = 0x5400, kAtomicBytes = 64;           // of each operation
inline constexpr uint32_t kOutput = 0x6000, kOutputBytes = 16;            // a thread's registers at the end
inline constexpr uint32_t kApproximate = 0x8000, kApproximateBytes = 32;  // of each thread
inline constexpr uint32_t kMemoryBytes = 0xc000;

// The group's LDS.
inline constexpr uint32_t kLdsOwn = 0, kLdsOwnBytes = 32;  // of each thread, 128 threads
inline constexpr uint32_t kLdsExchange = 0x1000;           // 16 bytes of each thread: its wave's lanes meet
inline constexpr uint32_t kLdsGroup = 0x1800;              // a dword of each thread: the group meets
inline constexpr uint32_t kLdsAtomics = 0x1a00;            // 8 operations, 4 dwords each
inline constexpr uint32_t kLdsBytes = 0x1c00;

}  // namespace orrery::shader::differential
