// The command line of orrery-gpu.
#pragma once

#include <optional>
#include <string>

#include "gpu-service/dispatch/coherence.hpp"
#include "shared/error.hpp"

namespace orrery::service {

struct Options {
  int control_fd = -1;
  std::optional<uint32_t> gpu;       // index of the Vulkan device
  std::optional<uint32_t> patience;  // seconds for one dispatch
  std::string sandbox = "auto";
  bool exactly_once = true;
  bool cpu = false;  // the software device
  std::string tracker = "auto";
  bool routes = false;
  bool device_addressing = true;
  dispatch::Coherence coherence = dispatch::Coherence::automatic;
  bool validation = false;
  bool list_devices = false;
  bool json = false;
};

struct ParsedOptions {
  Options options;
  std::optional<int> exit;  // --help and errors: the text was printed, end with this status
};

ParsedOptions parse_options(int argc, char** argv);

}  // namespace orrery::service
