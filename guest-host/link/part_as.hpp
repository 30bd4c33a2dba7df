// A part of the control segment as the structure it holds.
#pragma once

#include "protocol/control_segment.hpp"

namespace orrery::link {

template <class T>
T& part_as(const protocol::ControlSegment& segment, protocol::PartName part) {
  return *reinterpret_cast<T*>(segment.part(part).data());
}

}  // namespace orrery::link
