// What a run did and how long it took, for people's benchmarks: read out of the control segment when the title ends.
#pragma once

#include <string>

#include "protocol/control_segment.hpp"
#include "shared/error.hpp"

namespace orrery::link {

// As JSON: {"spans": {...}, "counters": {...}}. Error: the file can't be written.
Result<void> write_run_report(const std::string& path, const protocol::ControlSegment& segment);

}  // namespace orrery::link
