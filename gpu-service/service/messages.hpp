// Messages between the two processes as plain values; the only place of the service that knows Cap'n Proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu-service/command/queued_answer.hpp"
#include "gpu-service/present/presenter.hpp"
#include "shared/error.hpp"

namespace orrery::service {

struct Submit {
  uint64_t sequence;
};
struct MapChanged {
  uint64_t version;
};
struct QueuedWritesAsked {
  uint64_t ask, sequence;
};
struct Shutdown {};
struct Settle {
  uint64_t number;
};
using FromGuest = std::variant<Submit, MapChanged, QueuedWritesAsked, Shutdown, Settle>;

// Error (protocol_mismatch) for bytes that are no GuestMessage.
Result<FromGuest> decode_from_guest(std::span<const std::byte> bytes);

std::vector<std::byte> encode_input(const present::PadState& pad);
std::vector<std::byte> encode_refusal(std::string_view kind, std::string_view text, uint64_t count);
std::vector<std::byte> encode_queued_writes(uint64_t ask, std::span<const command::QueuedSpan> spans);
std::vector<std::byte> encode_queued_writes_unbounded(uint64_t ask, std::string_view reason, uint64_t sequence);
std::vector<std::byte> encode_queued_writes_refused(uint64_t ask, std::string_view reason);
std::vector<std::byte> encode_window_closed();
std::vector<std::byte> encode_settled(uint64_t number);

}  // namespace orrery::service
