// Before Cap'n Proto's headers where clang compiles them: as C++20 has it since P2468, `text == kj::StringPtr` is not
// turned round any more, and capnp 0.9 relies on that.
#pragma once

#include <kj/string.h>

namespace kj {
inline bool operator==(const char* a, const StringPtr& b) { return b.operator==(StringPtr(a)); }
}  // namespace kj
