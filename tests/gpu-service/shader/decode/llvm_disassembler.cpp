#include "tests/gpu-service/shader/decode/llvm_disassembler.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace orrery::shader::testing {
namespace {

constexpr const char* kSeparator = "\ts_nop 0x1234";
constexpr const char* kSeparatorBytes = "0x34,0x12,0x80,0xbf\n";

struct TemporaryFile {
  std::string path = (std::filesystem::temp_directory_path() / fmt::format("orrery-llvm-{}-XXXXXX", getpid())).string();
  TemporaryFile() { close(mkstemp(path.data())); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

std::vector<std::vector<std::string>> llvm_disassemble(std::span<const WordGroup> groups, Target target,
                                                       uint32_t wave) {
  std::string input;
  input.reserve(groups.size() * 140);
  for (const WordGroup& group : groups) {
    input += '[';
    for (size_t i = 0; i < group.size(); ++i) {
      constexpr char kDigits[] = "0123456789abcdef";
      for (unsigned byte = 0; byte < 4; ++byte) {
        const uint32_t value = group[i] >> (8 * byte) & 255;
        const char text[] = {'0', 'x', kDigits[value >> 4], kDigits[value & 15], ',', 0};
        input += text;
      }
    }
    input.back() = ']';
    input += '\n';
    input += kSeparatorBytes;
  }
  const TemporaryFile in, out;
  std::ofstream(in.path) << input;
  const std::string command =
      fmt::format("llvm-mc-19 -disassemble -triple=amdgcn -mcpu={} -mattr={} {} > {} 2> /dev/null",
                  target == Target::gfx1013 ? "gfx1013" : "gfx1030",
                  wave == 32 ? "+wavefrontsize32" : "+wavefrontsize64,-wavefrontsize32", in.path, out.path);
  const int status = std::system(command.c_str());
  std::vector<std::vector<std::string>> result;
  result.reserve(groups.size());
  std::vector<std::string> current;
  std::ifstream output(out.path);
  for (std::string line; std::getline(output, line);) {
    if (line.starts_with(kSeparator)) {
      result.push_back(std::move(current));
      current.clear();
    } else if (line.starts_with('\t') && !line.starts_with("\t.")) {
      current.push_back(line.substr(1));
    }
  }
  if (result.size() != groups.size()) {
    throw std::runtime_error(fmt::format("llvm-mc-19 answered {} of {} groups (status {}); is llvm-19 installed?",
                                         result.size(), groups.size(), status));
  }
  return result;
}

std::vector<std::string> our_disassemble(std::span<const uint32_t> words, Target target, uint32_t wave) {
  std::vector<std::string> lines;
  while (!words.empty()) {
    const auto instruction = decode(words, 0, target);
    if (!instruction) {
      break;
    }
    lines.push_back(to_text(*instruction, wave));
    words = words.subspan(instruction->size / 4u);
  }
  return lines;
}

bool llvm_doubts(const std::string& llvm_text) { return llvm_text.find("/*") != std::string::npos; }

std::string plain(std::string text) {
  for (size_t at = text.find("/*"); at != std::string::npos; at = text.find("/*")) {
    const size_t end = text.find("*/", at);
    text.erase(at, end == std::string::npos ? end : end + 2 - at);
  }
  text.erase(std::min(text.find(';'), text.size()));
  size_t name_end = std::min(text.find(' '), text.size());
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp8", "_dpp"}) {
    if (std::string_view(text).substr(0, name_end).ends_with(suffix)) {
      text.erase(name_end - suffix.size(), suffix.size());
      name_end -= suffix.size();
      break;
    }
  }
  std::string result;
  for (const char c : text) {
    if (c != ' ' || (!result.empty() && result.back() != ' ')) {
      result += c;
    }
  }
  while (result.ends_with(' ')) {
    result.pop_back();
  }
  return result;
}

WordGroup without_unused_bits(std::span<const uint32_t> words, Target target, uint32_t wave) {
  WordGroup result(words.begin(), words.end());
  const auto original = decode(result, 0, target);
  if (!original) {
    return result;
  }
  const std::string text = to_text(*original, wave);
  uint32_t saddr_mask = 0;
  if (mnemonic(original->opcode).starts_with("image_bvh")) {
    // LLVM wants DMASK, UNORM and R128 all set and the rest clear.
    result[0] = (result[0] & 0xfdfc0007u) | 0x9f00u;
    result[1] &= 0x401fffffu;
    return result;
  }
  // LLVM wants "off" where a flat instruction names no scalar base.
  if (original->format == Format::flat || original->format == Format::global || original->format == Format::scratch) {
    WordGroup off = result;
    off[1] = (off[1] & ~0x7f0000u) | 0x7d0000u;
    if (const auto changed = decode(off, 0, target); changed && to_text(*changed, wave) == text) {
      result = off;
      saddr_mask = 0x7f0000u;
    }
  }
  for (size_t i = 0; i < original->size / 4u; ++i) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      const uint32_t mask = 1u << bit;
      if (i == 1 && (mask & saddr_mask) != 0) {
        continue;
      }
      if ((result[i] & mask) == 0) {
        continue;
      }
      result[i] ^= mask;
      const auto changed = decode(result, 0, target);
      if (!changed || changed->size != original->size || to_text(*changed, wave) != text) {
        result[i] ^= mask;
      }
    }
  }
  return result;
}

}  // namespace orrery::shader::testing
