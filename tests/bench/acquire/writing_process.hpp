// A process that stands for a title: it shows pieces of an arena side by side, and rewrites a share of their pages when
// it is told to.
#pragma once

#include <sys/types.h>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "shared/error.hpp"
#include "shared/unique_fd.hpp"
#include "shared/write_watch.hpp"

namespace orrery::bench {

struct ArenaShape {
  static constexpr uint64_t kBase = 0x40'0000'0000, kGuestPage = 16 << 10;
  uint64_t pieces = 0, piece_bytes = 0;
  uint64_t stride() const { return piece_bytes + kGuestPage; }  // a gap behind each
  uint64_t bytes() const { return pieces * piece_bytes; }
  uint64_t arena_bytes() const { return pieces * stride(); }
  AddressRange guest() const { return {kBase, kBase + bytes()}; }
  std::vector<protocol::MapEntry> windows() const;
};

class WritingProcess {
 public:
  // Forks: before anything starts threads.
  static Result<WritingProcess> start(const UniqueFd& arena, const ArenaShape& shape);
  WritingProcess(WritingProcess&& other) noexcept;
  WritingProcess& operator=(WritingProcess&&) = delete;
  ~WritingProcess();
  // Its page tables; a new descriptor each time.
  Result<UniqueFd> pagemap() const;
  // Rewrites that share of the pages, others each time, and answers when it is done.
  Result<void> rewrite(double percent);

 private:
  WritingProcess() = default;
  UniqueFd to_, from_;
  pid_t pid_ = -1;
};

}  // namespace orrery::bench
