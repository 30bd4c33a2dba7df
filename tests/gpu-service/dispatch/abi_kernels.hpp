// A translator that knows a few programs by their first word and answers modules written by hand to the module ABI.
#pragma once

#include "gpu-service/dispatch/program_cache.hpp"

namespace orrery::dispatch {

inline constexpr uint32_t kPageCopy = 0xC0DE0001, kBoundAdd = 0xC0DE0002, kRefused = 0xC0DE0003,
                          kUnreadable = 0xC0DE0004, kSpin = 0xC0DE0005, kPrivateSum = 0xC0DE0006,
                          kByteStripes = 0xC0DE0007;

// kBoundAdd with its two descriptors in a table: 32 bytes at the address in user data 0, 1.
inline constexpr uint32_t kTableAdd = 0xC0DE0100;

Translator abi_kernel_translator();

}  // namespace orrery::dispatch
