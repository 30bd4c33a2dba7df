// How the device sees guest memory, chosen once a life.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery::dispatch {

enum class Coherence : uint8_t {
  automatic,  // mirrored on a discrete GPU, imported elsewhere
  imported,   // zero-copy: the device works in the arena itself
  mirrored,   // device-local copies; one harvest of the CPU's writes per acquire point
  per_run,    // mirrored, but one harvest per copied run before every device-addressed dispatch: the naive method,
              // kept for measurements
};
std::optional<Coherence> parse_coherence(std::string_view text);  // "auto", "imported", "mirrored", "per-run"
const char* name(Coherence coherence);

}  // namespace orrery::dispatch
