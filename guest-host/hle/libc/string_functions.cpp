#include <strings.h>
#include <cstring>

#include "guest-host/hle/libc/library.hpp"

namespace orrery::hle::libc {

// strdup is with the heap.
void add_string_functions(Registry& registry) {
  registry.add(kLibrary, "memcpy", [](void* to, const void* from, size_t n) { return std::memmove(to, from, n); });
  registry.add(kLibrary, "memmove", [](void* to, const void* from, size_t n) { return std::memmove(to, from, n); });
  registry.add(kLibrary, "memset", [](void* to, int value, size_t n) { return std::memset(to, value, n); });
  registry.add(kLibrary, "memcmp", [](const void* a, const void* b, size_t n) { return std::memcmp(a, b, n); });
  registry.add(kLibrary, "memchr", [](const void* in, int c, size_t n) { return std::memchr(in, c, n); });
  registry.add(kLibrary, "strlen", [](const char* s) { return std::strlen(s); });
  registry.add(kLibrary, "strnlen", [](const char* s, size_t n) { return ::strnlen(s, n); });
  registry.add(kLibrary, "strcmp", [](const char* a, const char* b) { return std::strcmp(a, b); });
  registry.add(kLibrary, "strncmp", [](const char* a, const char* b, size_t n) { return std::strncmp(a, b, n); });
  registry.add(kLibrary, "strcasecmp", [](const char* a, const char* b) { return ::strcasecmp(a, b); });
  registry.add(kLibrary, "strcpy", [](char* to, const char* from) { return std::strcpy(to, from); });
  registry.add(kLibrary, "strncpy", [](char* to, const char* from, size_t n) { return std::strncpy(to, from, n); });
  registry.add(kLibrary, "strcat", [](char* to, const char* from) { return std::strcat(to, from); });
  registry.add(kLibrary, "strncat", [](char* to, const char* from, size_t n) { return std::strncat(to, from, n); });
  registry.add(kLibrary, "strchr", [](const char* s, int c) { return std::strchr(s, c); });
  registry.add(kLibrary, "strrchr", [](const char* s, int c) { return std::strrchr(s, c); });
  registry.add(kLibrary, "strstr", [](const char* in, const char* what) { return std::strstr(in, what); });
}

}  // namespace orrery::hle::libc
