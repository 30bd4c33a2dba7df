// Cap'n Proto 0.9.2's headers compare `const char*` with kj::StringPtr the wrong way round for clang in C++20 and
// newer.
#pragma once
#if defined(__clang__) && __has_include(<kj/string.h>)
#include <kj/string.h>
namespace kj {
inline bool operator==(const char* a, const StringPtr& b) { return b == StringPtr(a); }
inline bool operator!=(const char* a, const StringPtr& b) { return !(b == StringPtr(a)); }
}  // namespace kj
#endif
