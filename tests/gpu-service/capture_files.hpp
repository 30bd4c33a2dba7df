// Command streams recorded on a console, and how they are read. The files are not part of this repository: a test that
// finds no folder skips by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace orrery::test {

// The folder shared/captures beside the checkout, or beside a folder above it; empty when there is none.
inline std::filesystem::path captures_folder() {
  for (std::filesystem::path at = ORRERY_SOURCE_DIR; at.has_relative_path(); at = at.parent_path()) {
    if (std::filesystem::exists(at.parent_path() / "shared/captures")) return at.parent_path() / "shared/captures";
  }
  return {};
}

// Dwords as hexadecimal words; `#` starts a comment.
inline std::vector<uint32_t> read_words(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<uint32_t> words;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line.substr(0, line.find('#')));
    for (std::string word; fields >> word;) words.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
  }
  return words;
}

}  // namespace orrery::test
