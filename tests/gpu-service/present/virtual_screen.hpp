// A virtual X server of its own for this process, and screenshots of it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present::test {

inline constexpr uint32_t kScreenWidth = 640, kScreenHeight = 360;

class VirtualScreen {
 public:
  // Starts Xvfb once per process and makes it the display. Answers why it can't be had, or an empty text.
  static const std::string& missing();
  // Screenshot of the whole screen.
  static Image look();
};

}  // namespace orrery::present::test
