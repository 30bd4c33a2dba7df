// An owned file descriptor, and the two kinds of memory we make with one.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset();
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// An unnamed, sparse shared memory file (memfd), close-on-exec, sealed against shrinking and growing.
Result<UniqueFd> make_memory_file(const std::string& name, Bytes size);

// Checks a descriptor from another process: at least `size` bytes, and sealed so that it can't shrink under our reads.
Result<void> check_memory_file(const UniqueFd& fd, Bytes size);

// A mapping that unmaps itself.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* base, size_t size) : base_(static_cast<std::byte*>(base)), size_(size) {}
  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // Maps `size` bytes of `fd` from `offset`, shared, readable and (unless read_only) writable, anywhere.
  static Result<Mapping> of(const UniqueFd& fd, Bytes offset, Bytes size, bool read_only = false);

  std::byte* data() const { return base_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {base_, size_}; }

 private:
  std::byte* base_ = nullptr;
  size_t size_ = 0;
};

}  // namespace orrery
