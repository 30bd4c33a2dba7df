#include "tests/gpu-service/shader/opencl/exceptions.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <array>
#include <fstream>

namespace orrery::opencl {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

}  // namespace

std::expected<Exceptions, std::string> Exceptions::read(const std::string& path) {
  std::ifstream in(path);
  if (!in) return std::unexpected("cannot read " + path);
  Exceptions result;
  std::string text;
  for (uint32_t number = 1; std::getline(in, text); ++number) {
    if (trimmed(text).empty() || trimmed(text)[0] == '#') continue;
    std::array<std::string, 4> columns;
    size_t at = 0;
    for (size_t i = 0; i < columns.size() && at != std::string::npos; ++i) {
      const size_t bar = i + 1 < columns.size() ? text.find('|', at) : std::string::npos;
      columns[i] = trimmed(text.substr(at, bar == std::string::npos ? bar : bar - at));
      at = bar == std::string::npos ? bar : bar + 1;
    }
    const std::string& on = columns[2];
    if (columns[3].empty() || (on != "any" && on != "interpreter" && on != "device" && on != "build")) {
      return std::unexpected(fmt::format("{}:{}: not 'FILE | CASE | ON | REASON'", path, number));
    }
    result.lines_.push_back({columns[0], columns[1], on, columns[3], number});
  }
  return result;
}

Exception* Exceptions::find(const std::string& file, const std::string& test, const std::string& on) {
  for (Exception& line : lines_) {
    if (line.on != on && (line.on != "any" || on == "build")) continue;
    if (fnmatch(line.file.c_str(), file.c_str(), 0) == 0 && fnmatch(line.test.c_str(), test.c_str(), 0) == 0) {
      return &line;
    }
  }
  return nullptr;
}

}  // namespace orrery::opencl
