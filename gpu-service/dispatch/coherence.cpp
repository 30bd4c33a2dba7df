#include "gpu-service/dispatch/coherence.hpp"

#include <array>

namespace orrery::dispatch {
namespace {

constexpr std::array<const char*, 4> kNames{"auto", "imported", "mirrored", "per-run"};

}  // namespace

std::optional<Coherence> parse_coherence(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return static_cast<Coherence>(i);
  }
  return std::nullopt;
}

const char* name(Coherence coherence) { return kNames[static_cast<size_t>(coherence)]; }

}  // namespace orrery::dispatch
