#include "gpu-service/present/frame_keeper.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gpu-service/present/frame_list.hpp"
#include "shared/measure/span.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::present {

Result<FrameKeeper> FrameKeeper::create(const protocol::RunOptions& options, uint32_t life) {
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
    if (life <= 1) std::filesystem::remove(std::filesystem::path(keeper.directory_) / kFrameList, error);
  }
  return keeper;
}

Result<void> FrameKeeper::keep(const Image& image, uint64_t flip_index) const {
  if (directory_.empty()) return {};
  const measure::Span span(measure::SpanName::keep_frame, flip_index);
  ORRERY_TRY(list(image, flip_index));
  if (flip_index % every_ != 0) return {};
  return write_png(fmt::format("{}/{}", directory_, frame_name(flip_index)), image);
}

Result<void> FrameKeeper::list(const Image& image, uint64_t flip_index) const {
  const std::string path = fmt::format("{}/{}", directory_, kFrameList);
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  const std::string line = line_of(flip_index, listed(image));
  // In one piece: a death leaves the line whole or cut, never mixed with the next life's.
  if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return fail(ExitCode::usage, "can't write to {}: {}", path, std::strerror(errno));
  }
  return {};
}

}  // namespace orrery::present
