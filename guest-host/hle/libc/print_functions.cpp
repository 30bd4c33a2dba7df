#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "guest-host/hle/libc/format.hpp"
#include "guest-host/hle/libc/library.hpp"
#include "shared/plain_file.hpp"

namespace orrery::hle::libc {

namespace {

int print(const std::string& text) {
  return write_all(1, std::as_bytes(std::span(text))) ? static_cast<int>(text.size()) : -1;
}

int store(char* to, size_t size, const std::string& text) {
  if (size != 0) {
    const size_t kept = std::min(size - 1, text.size());
    std::memcpy(to, text.data(), kept);
    to[kept] = 0;
  }
  return static_cast<int>(text.size());
}

constexpr size_t kUnbounded = std::numeric_limits<size_t>::max();

}  // namespace

void add_print_functions(Registry& registry, Environment& env) {
  Refusals& refusals = env.refusals;
  registry.add(kLibrary, "printf", [&refusals](const char* format, VariableArguments arguments) {
    return print(format_text(format, arguments, refusals));
  });
  registry.add(kLibrary, "vprintf", [&refusals](const char* format, void* list) {
    return print(format_text(format, VariableArguments(list), refusals));
  });
  registry.add(kLibrary, "snprintf", [&refusals](char* to, size_t n, const char* format, VariableArguments arguments) {
    return store(to, n, format_text(format, arguments, refusals));
  });
  registry.add(kLibrary, "vsnprintf", [&refusals](char* to, size_t n, const char* format, void* list) {
    return store(to, n, format_text(format, VariableArguments(list), refusals));
  });
  registry.add(kLibrary, "sprintf", [&refusals](char* to, const char* format, VariableArguments arguments) {
    return store(to, kUnbounded, format_text(format, arguments, refusals));
  });
  registry.add(kLibrary, "puts", [](const char* line) { return print(std::string(line) + "\n"); });
  registry.add(kLibrary, "putchar", [](int c) {
    return print(std::string(1, static_cast<char>(c))) < 0 ? -1 : static_cast<int>(static_cast<unsigned char>(c));
  });
}

}  // namespace orrery::hle::libc
