// libSceVideoOut.
#pragma once

#include "guest-host/hle/environment.hpp"
#include "guest-host/hle/registry.hpp"
#include "guest-host/hle/video_out/video_out.hpp"

namespace orrery::hle::video_out {

void add_library(Registry& registry, Environment& environment, VideoOut& video_out);

}  // namespace orrery::hle::video_out
