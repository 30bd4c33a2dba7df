// The code objects that a HIP library carries for one target: offload bundles in its section .hip_fatbin.
// Layout: clang "Offload Bundler", uncompressed bundles.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace orrery::corpora {

class FatBinary {
 public:
  // Maps the library. Error: what it lacks, compressed bundles included.
  static std::expected<FatBinary, std::string> open(const std::string& path, const std::string& target);
  FatBinary(FatBinary&& other) noexcept;
  FatBinary& operator=(FatBinary&&) = delete;
  ~FatBinary();
  // In the file's order; views of the mapping.
  const std::vector<std::span<const std::byte>>& code_objects() const { return code_objects_; }

 private:
  explicit FatBinary(std::span<const std::byte> mapping) : mapping_(mapping) {}
  std::span<const std::byte> mapping_;
  std::vector<std::span<const std::byte>> code_objects_;
};

}  // namespace orrery::corpora
