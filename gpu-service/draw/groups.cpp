#include "gpu-service/draw/groups.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "gpu-service/shader/stage.hpp"

namespace orrery::draw {
namespace {

namespace memory = shader::draw_memory;

constexpr uint32_t kMostThreads = 256;              // of a group on hardware
constexpr uint32_t kMostGroups = 65535;             // of one host dispatch
constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // addressed with 32 bits

void put(std::span<std::byte> at, uint32_t byte, uint32_t value) { std::memcpy(at.data() + byte, &value, 4); }

void start_group(const DrawState& state, const Groups& groups, std::span<const std::array<uint32_t, 3>> primitives,
                 uint32_t first, uint32_t instance, std::span<std::byte> group) {
  std::memset(group.data(), 0, group.size());
  const uint32_t corners = corners_of(state.primitive), wave = state.primitive_shader.wave;
  const auto count = static_cast<uint32_t>(primitives.size()), vertices = count * corners;
  put(group, memory::kGroupInfo, vertices << 12 | count << 22);
  const uint32_t waves = groups.threads / wave;
  const auto share = [&](uint32_t all, uint32_t w) { return std::min(wave, all - std::min(all, w * wave)); };
  for (uint32_t w = 0; w < waves; ++w) {
    put(group, memory::kWaveInfo + w * 4, share(vertices, w) | share(count, w) << 8 | w << 24 | waves << 28);
  }
  const auto thread = [&](uint32_t n, uint32_t word, uint32_t value) {
    put(group, memory::kThreads + n * memory::kThreadBytes + word * 4, value);
  };
  for (uint32_t p = 0; p < count; ++p) {
    std::array<uint32_t, 3> own{};
    for (uint32_t c = 0; c < corners; ++c) {
      own[c] = p * corners + c;
      thread(own[c], memory::kVertexId, primitives[p][c]);
      thread(own[c], memory::kInstanceId, instance);
    }
    const uint32_t word = state.passthrough ? own[0] | own[1] << 10 | own[2] << 20 : own[0] | own[1] << 16;
    thread(p, memory::kConnectivity, word);
    thread(p, memory::kThirdVertex, own[2]);
    thread(p, memory::kPrimitiveId, first + p);
  }
}

}  // namespace

uint32_t corners_of(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::points:
      return 1;
    case PrimitiveType::lines:
    case PrimitiveType::line_strip:
      return 2;
    case PrimitiveType::triangles:
    case PrimitiveType::triangle_fan:
    case PrimitiveType::triangle_strip:
      return 3;
    case PrimitiveType::none:
    case PrimitiveType::rectangles:
      break;
  }
  return 0;
}

std::vector<std::array<uint32_t, 3>> primitives_of(PrimitiveType type, std::span<const uint32_t> ids,
                                                   bool ones_end_strips, uint32_t ones) {
  std::vector<std::array<uint32_t, 3>> out;
  const auto strip = [&](std::span<const uint32_t> part) {
    const uint32_t corners = corners_of(type);
    const auto listed =
        type == PrimitiveType::points || type == PrimitiveType::lines || type == PrimitiveType::triangles;
    for (size_t at = 0; corners != 0 && at + corners <= part.size(); at += listed ? corners : 1) {
      std::array<uint32_t, 3> own{};
      for (uint32_t c = 0; c < corners; ++c) own[c] = part[at + c];
      if (type == PrimitiveType::triangle_fan) own = {part[at + 1], part[at + 2], part[0]};
      // Every second triangle of a strip is turned, its first vertex stays.
      if (type == PrimitiveType::triangle_strip && at % 2 != 0) std::swap(own[1], own[2]);
      out.push_back(own);
    }
  };
  size_t begin = 0;
  for (size_t at = 0; ones_end_strips && at < ids.size(); ++at) {
    if (ids[at] != ones) continue;
    strip(ids.subspan(begin, at - begin));
    begin = at + 1;
  }
  strip(ids.subspan(begin));
  return out;
}

std::expected<Groups, std::string> groups_of(const DrawState& state, uint64_t primitives) {
  const uint32_t corners = std::max(1u, corners_of(state.primitive)), wave = state.primitive_shader.wave;
  Groups groups;
  const uint32_t most = std::min({state.group_primitives, state.group_vertices / corners, kMostThreads / corners});
  groups.primitives = static_cast<uint32_t>(std::min<uint64_t>(most, primitives));
  if (groups.primitives == 0) return std::unexpected(std::string("GE_CNTL with groups of nothing"));
  groups.threads = (groups.primitives * corners + wave - 1) / wave * wave;
  groups.bytes = memory::group_bytes(groups.threads, state.parameters);
  const uint64_t count = (primitives + groups.primitives - 1) / groups.primitives * state.instances;
  if (count > kMostGroups || count * groups.bytes > kMostBytes) {
    return std::unexpected(fmt::format("{} primitives in {} instances", primitives, state.instances));
  }
  groups.count = static_cast<uint32_t>(count);
  return groups;
}

void start_groups(const DrawState& state, const Groups& groups, std::span<const std::array<uint32_t, 3>> primitives,
                  std::span<std::byte> memory) {
  const uint32_t each = groups.count / state.instances;
  for (uint32_t g = 0; g < groups.count; ++g) {
    const uint32_t first = g % each * groups.primitives;
    const size_t count = std::min<size_t>(groups.primitives, primitives.size() - first);
    start_group(state, groups, primitives.subspan(first, count), first, g / each,
                memory.subspan(size_t{g} * groups.bytes, groups.bytes));
  }
}

}  // namespace orrery::draw
