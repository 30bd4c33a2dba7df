#include "gpu-service/present/frame_keeper.hpp"

#include <algorithm>
#include <filesystem>

namespace orrery::present {

Result<FrameKeeper> FrameKeeper::create(const protocol::RunOptions& options) {
  FrameKeeper keeper;
  keeper.directory_ = options.keep_frames_directory;
  keeper.every_ = std::max(options.keep_every, 1u);
  if (!keeper.directory_.empty()) {
    std::error_code error;
    std::filesystem::create_directories(keeper.directory_, error);
    if (!std::filesystem::is_directory(keeper.directory_)) {
      return fail(ExitCode::usage, "can't make the directory {} for kept frames: {}", keeper.directory_,
                  error ? error.message() : "something else has that name");
    }
  }
  return keeper;
}

Result<void> FrameKeeper::keep(const Image& image, uint64_t flip_index) const {
  if (directory_.empty() || flip_index % every_ != 0) return {};
  return write_png(fmt::format("{}/frame-{:06}.png", directory_, flip_index), image);
}

}  // namespace orrery::present
