// Keeps every n-th frame as frame-NNNNNN.png in a directory, and the hash of every frame in its list.
#pragma once

#include <cstdint>
#include <string>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {

class FrameKeeper {
 public:
  // Makes the directory when frames are to be kept; the first life of a run starts the list anew. Error (usage) when
  // that is not possible.
  static Result<FrameKeeper> create(const protocol::RunOptions& options, uint32_t life = 1);
  Result<void> keep(const Image& image, uint64_t flip_index) const;
  const std::string& directory() const { return directory_; }

 private:
  Result<void> list(const Image& image, uint64_t flip_index) const;

  std::string directory_;  // empty: keep none
  uint32_t every_ = 1;
};

}  // namespace orrery::present
