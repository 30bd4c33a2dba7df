// Code that an import's address points to: one 16-byte stub per import, which loads its binding and jumps to the
// crossing.
#pragma once

#include <mutex>

#include "guest-host/cpu/call_frame.hpp"
#include "guest-host/cpu/fs_policy.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::cpu {

class StubArea {
 public:
  static Result<std::unique_ptr<StubArea>> create(FsPolicy policy);
  ~StubArea();
  StubArea(const StubArea&) = delete;
  StubArea& operator=(const StubArea&) = delete;
  // The address for the guest to call. The binding must outlive the area. Error when the area is full.
  Result<uint64_t> add(ImportBinding& binding);

 private:
  StubArea(UniqueFd file, Mapping writable, std::byte* executable)
      : file_(std::move(file)), writable_(std::move(writable)), executable_(executable) {}

  UniqueFd file_;
  Mapping writable_;
  std::byte* executable_;  // the same bytes, for the guest
  std::mutex mutex_;
  size_t used_ = 16;  // the first 16 bytes hold the crossing's address
};

}  // namespace orrery::cpu
