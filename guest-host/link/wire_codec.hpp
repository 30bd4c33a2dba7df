// Messages to and from the GPU service as bytes. Keeps Cap'n Proto out of the other headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "guest-host/link/listener.hpp"
#include "guest-host/link/queued_writes.hpp"
#include "shared/error.hpp"

namespace orrery::link {

// The protocol that this build speaks.
uint32_t wire_version();
std::vector<std::byte> encode_submit(uint64_t sequence);
std::vector<std::byte> encode_map_changed(uint64_t version);
std::vector<std::byte> encode_shutdown();
std::vector<std::byte> encode_settle(uint64_t number);
std::vector<std::byte> encode_queued_writes(uint64_t ask, uint64_t last);

struct ServiceRefusal {
  std::string kind, text;
  uint64_t count;
};
struct WindowClosed {};
struct Settled {
  uint64_t number;
};
// A valid message of a kind that this guest process does not know.
struct Unexpected {};
using FromService = std::variant<PadInput, ServiceRefusal, WindowClosed, Settled, QueuedWritesAnswer, Unexpected>;

// Error (protocol_mismatch) for bytes that are no ServiceMessage.
Result<FromService> decode_from_service(std::span<const std::byte> bytes);

}  // namespace orrery::link
