// Any bytes as a ring with its positions, and any bytes as messages of either side.
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <cstdlib>
#include <memory>

#include "fuzz_target.hpp"
#include "gpu-service/service/messages.hpp"
#include "guest-host/link/wire_codec.hpp"
#include "protocol/messages.capnp.h"
#include "protocol/ring.hpp"

using namespace orrery;

namespace {

constexpr uint64_t kCapacity = 4096;

void decode(std::span<const std::byte> message) {
  if (const auto from_guest = service::decode_from_guest(message); !from_guest && from_guest.error().message.empty()) {
    std::abort();
  }
  if (const auto from_service = link::decode_from_service(message); !from_service) {
    if (from_service.error().message.empty()) std::abort();
  } else if (const auto* refusal = std::get_if<link::ServiceRefusal>(&*from_service)) {
    if (refusal->text.size() > message.size()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  decode(input.rest());
  // Exactly as long as the part: reading behind it is found.
  struct Memory {
    protocol::RingHeader header{};
    std::byte bytes[kCapacity] = {};
  };
  const auto memory = std::make_unique<Memory>();
  const std::span<std::byte> part{reinterpret_cast<std::byte*>(memory.get()), protocol::ring_memory(kCapacity)};
  protocol::RingProducer(part).reset();
  memory->header.read = input.take<uint64_t>();
  memory->header.written = memory->header.read + input.take<uint16_t>();
  if (input.take<uint8_t>() == 0xff) memory->header.written = input.take<uint64_t>();
  protocol::RingConsumer consumer(part, {.spins = 0});
  const uint64_t at = memory->header.read % kCapacity;
  const auto first = input.bytes(kCapacity - at);
  if (!first.empty()) std::memcpy(memory->bytes + at, first.data(), first.size());
  const auto wrapped = input.bytes(at);
  if (!wrapped.empty()) std::memcpy(memory->bytes, wrapped.data(), wrapped.size());
  for (int i = 0; i < 600; ++i) {
    const auto record = consumer.try_pop();
    if (!record || !*record) break;
    if ((*record)->size() > kCapacity) std::abort();
    decode(**record);
  }
  return 0;
}

std::vector<std::vector<uint8_t>> fuzz_seeds() {
  std::vector<std::vector<std::byte>> messages{
      link::encode_submit(7),
      link::encode_map_changed(3),
      link::encode_shutdown(),
      link::encode_settle(9),
      link::encode_queued_writes(1, 5),
      service::encode_input({.buttons = 0x10}),
      service::encode_refusal("packet", "queue 0, dword 3: of type 1", 4),
      service::encode_settled(2),
      service::encode_queued_writes(1, std::vector<command::QueuedSpan>{{{{0x1000}, {64}}, 3}}),
      service::encode_queued_writes_unbounded(1, "a wait", 6),
      service::encode_window_closed()};
  std::vector<std::vector<uint8_t>> seeds;
  std::vector<std::byte> ring;
  for (const auto& message : messages) {
    seeds.push_back(joined({message}));
    const uint32_t head[2] = {static_cast<uint32_t>(message.size()),
                              static_cast<uint32_t>(protocol::ChunkState::complete)};
    const auto bytes = std::as_bytes(std::span(head));
    ring.insert(ring.end(), bytes.begin(), bytes.end());
    ring.insert(ring.end(), message.begin(), message.end());
    ring.resize((ring.size() + 7) / 8 * 8);
  }
  for (const uint64_t read : {uint64_t{0}, uint64_t{kCapacity * 3 + 4000}}) {
    const uint16_t written = static_cast<uint16_t>(ring.size());
    const uint8_t plain = 0;
    seeds.push_back(joined({std::as_bytes(std::span(&read, 1)), std::as_bytes(std::span(&written, 1)),
                            std::as_bytes(std::span(&plain, 1)), ring}));
  }
  return seeds;
}
