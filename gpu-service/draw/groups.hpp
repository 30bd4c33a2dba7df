// A draw cut into the groups of primitives that its primitive shader runs for, and their memory (shader/stage.hpp) as
// it is when they start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/draw/draw_state.hpp"

namespace orrery::draw {

// Vertex ids of every primitive, one behind the other. Each primitive has vertices of its own: where several share one,
// the primitive shader runs for it several times. An index of all ones ends a strip.
std::vector<std::array<uint32_t, 3>> primitives_of(PrimitiveType type, std::span<const uint32_t> ids,
                                                   bool ones_end_strips, uint32_t ones);
uint32_t corners_of(PrimitiveType type);

struct Groups {
  uint32_t threads = 0;  // of a group: whole waves
  uint32_t count = 0;
  uint32_t primitives = 0;  // of a full group
  uint32_t bytes = 0;       // of a group's memory
  uint64_t all_bytes() const { return uint64_t{bytes} * count; }
};

// For so many primitives of one instance. Error: there is more than one host draw holds.
std::expected<Groups, std::string> groups_of(const DrawState& state, uint64_t primitives);

// Writes what the groups start with; `memory` has groups.all_bytes().
void start_groups(const DrawState& state, const Groups& groups, std::span<const std::array<uint32_t, 3>> primitives,
                  std::span<std::byte> memory);

}  // namespace orrery::draw
