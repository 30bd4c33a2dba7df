// Trouble on demand, for tests: ORRERY_INJECT names points of a program and what happens there, each
// "POINT[:COUNT]=DEED" with commas between. COUNT: the how-many-eth time the point is passed (default 1). "life3/POINT"
// only in that life of the GPU service (default: the first). Deeds: kill, segv, abort, stop, hang, oom, fail.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery::injection {

// Which life this process is; points of other lives stay quiet. Until it is called none acts.
void start(uint32_t life);
// True: the caller is to behave as if what it is about had failed (deed "fail").
bool slow_point(std::string_view name);
extern bool active;
// Costs one load when nothing is asked for.
inline bool point(std::string_view name) { return active && slow_point(name); }

}  // namespace orrery::injection
