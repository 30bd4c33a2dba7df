// Keeps every n-th frame as frame-NNNNNN.png in a directory.
#pragma once

#include <cstdint>
#include <string>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {

class FrameKeeper {
 public:
  // Makes the directory when frames are to be kept. Error (usage) when that is not possible.
  static Result<FrameKeeper> create(const protocol::RunOptions& options);
  Result<void> keep(const Image& image, uint64_t flip_index) const;
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;  // empty: keep none
  uint32_t every_ = 1;
};

}  // namespace orrery::present
