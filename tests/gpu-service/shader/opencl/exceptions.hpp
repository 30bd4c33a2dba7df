// The cases that are known not to pass, one by one with the reason: exceptions.txt beside this file.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace orrery::opencl {

struct Exception {
  std::string file, test;  // patterns as a shell's
  std::string on;          // "any", "interpreter", "device" or "build"
  std::string reason;
  uint32_t line = 0;
  uint32_t excepted = 0, passed = 0;  // cases so far
};

class Exceptions {
 public:
  // Lines "FILE | CASE | ON | REASON"; # starts a comment. Error: the line that is none.
  static std::expected<Exceptions, std::string> read(const std::string& path);
  // The first line that names the case, or null.
  Exception* find(const std::string& file, const std::string& test, const std::string& on);
  const std::vector<Exception>& lines() const { return lines_; }

 private:
  std::vector<Exception> lines_;
};

}  // namespace orrery::opencl
