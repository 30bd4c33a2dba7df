#include "tests/gpu-service/shader/semantics/assemble.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gpu-service/shader/decode/decoder.hpp"

namespace orrery::shader::semantics::test {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// "encoding: [0x01,0x02,...]" at the end of a line.
std::vector<uint32_t> words_of(const std::string& line) {
  std::vector<uint32_t> words;
  const size_t start = line.find("encoding: [");
  if (start == std::string::npos) return words;
  std::istringstream bytes(line.substr(start + 11));
  uint32_t count = 0;
  for (std::string byte; std::getline(bytes, byte, ','); ++count) {
    if (count % 4 == 0) words.push_back(0);
    words.back() |= static_cast<uint32_t>(std::stoul(byte, nullptr, 16)) << (8 * (count % 4));
  }
  return words;
}

}  // namespace

Assembled assemble(std::span<const std::string> lines, uint32_t wave, const std::string& processor) {
  const bool wide = wave == 64;
  const auto base = (std::filesystem::temp_directory_path() / fmt::format("orrery-semantics-{}", getpid())).string();
  {
    std::ofstream source(base + ".s");
    for (std::string line : lines) {
      replace_all(line, "{m}", wide ? "s[16:17]" : "s16");
      replace_all(line, "{vcc}", wide ? "vcc" : "vcc_lo");
      replace_all(line, "{exec}", wide ? "exec" : "exec_lo");
      source << line << "\n";
    }
  }
  const std::string command =
      fmt::format("llvm-mc-19 -triple=amdgcn -mcpu={} -mattr={} -show-encoding {}.s > {}.out 2> {}.err", processor,
                  wide ? "+wavefrontsize64,-wavefrontsize32" : "+wavefrontsize32", base, base, base);
  Assembled result;
  const int status = std::system(command.c_str());
  std::ifstream complaint(base + ".err");
  result.error.assign(std::istreambuf_iterator<char>(complaint), {});
  if (status != 0 && result.error.empty()) result.error = "llvm-mc-19 is missing";
  std::ifstream output(base + ".out");
  for (std::string line; result.error.empty() && std::getline(output, line);) {
    const std::vector<uint32_t> words = words_of(line);
    if (words.empty()) continue;
    auto decoded = decode(words, 0, processor == "gfx1030" ? Target::gfx1030 : Target::gfx1013);
    if (!decoded) {
      result.error = line + ": " + decoded.error().reason;
    } else {
      result.instructions.push_back(*decoded);
    }
  }
  if (result.error.empty() && result.instructions.size() != lines.size()) {
    result.error = fmt::format("{} lines, {} instructions", lines.size(), result.instructions.size());
  }
  for (const char* suffix : {".s", ".out", ".err"}) std::filesystem::remove(base + suffix);
  if (!result.error.empty()) result.instructions.clear();
  return result;
}

}  // namespace orrery::shader::semantics::test
