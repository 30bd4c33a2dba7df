#include "gpu-service/service/messages.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <cstring>
#include <string>

#include "protocol/messages.capnp.h"

namespace orrery::service {
namespace {

namespace wire = protocol::wire;

template <class Fill>
std::vector<std::byte> encode(Fill fill) {
  capnp::word scratch[64] = {};
  capnp::MallocMessageBuilder message(kj::arrayPtr(scratch, 64));
  fill(message.initRoot<wire::ServiceMessage>());
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.begin());
  return {begin, begin + bytes.size()};
}

Result<FromGuest> convert(wire::GuestMessage::Reader message) {
  switch (message.which()) {
    case wire::GuestMessage::SUBMIT:
      return Submit{message.getSubmit()};
    case wire::GuestMessage::MAP_CHANGED:
      return MapChanged{message.getMapChanged()};
    case wire::GuestMessage::QUEUED_WRITES:
      return QueuedWritesAsked{message.getQueuedWrites().getAsk(), message.getQueuedWrites().getSequence()};
    case wire::GuestMessage::SHUTDOWN:
      return Shutdown{};
    case wire::GuestMessage::SETTLE:
      return Settle{message.getSettle()};
  }
  return fail(ExitCode::protocol_mismatch, "a message of unknown kind {} from the guest process",
              static_cast<int>(message.which()));
}

}  // namespace

Result<FromGuest> decode_from_guest(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() % sizeof(capnp::word) != 0) {
    return fail(ExitCode::protocol_mismatch, "a message of {} bytes from the guest process is no Cap'n Proto message",
                bytes.size());
  }
  std::vector<capnp::word> words(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  // A message is read once, so it can't cost more than its own words (plus the smallest limit the library takes).
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = words.size() + 64;
  limits.nestingLimit = 8;
  try {
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()), limits);
    return convert(reader.getRoot<wire::GuestMessage>());
  } catch (const kj::Exception& error) {
    return fail(ExitCode::protocol_mismatch, "a message from the guest process is malformed: {}",
                error.getDescription().cStr());
  }
}

std::vector<std::byte> encode_input(const present::PadState& pad) {
  return encode([&](wire::ServiceMessage::Builder m) {
    auto input = m.initInput();
    input.setButtons(pad.buttons);
    input.setLeftX(pad.left_x);
    input.setLeftY(pad.left_y);
    input.setRightX(pad.right_x);
    input.setRightY(pad.right_y);
    input.setL2(pad.l2);
    input.setR2(pad.r2);
  });
}
std::vector<std::byte> encode_refusal(std::string_view kind, std::string_view text, uint64_t count) {
  return encode([&](wire::ServiceMessage::Builder m) {
    auto refusal = m.initRefusal();
    refusal.setKind(std::string(kind));
    refusal.setText(std::string(text));
    refusal.setCount(count);
  });
}
std::vector<std::byte> encode_queued_writes(uint64_t ask, std::span<const command::QueuedSpan> spans) {
  return encode([&](wire::ServiceMessage::Builder m) {
    auto answer = m.initQueuedWritesAnswer();
    answer.setAsk(ask);
    auto list = answer.initSpans(static_cast<uint32_t>(spans.size()));
    for (uint32_t i = 0; i < spans.size(); ++i) {
      list[i].setAddress(spans[i].span.begin.value);
      list[i].setSize(spans[i].span.size.value);
      list[i].setSequence(spans[i].sequence);
    }
  });
}
std::vector<std::byte> encode_queued_writes_unbounded(uint64_t ask, std::string_view reason, uint64_t sequence) {
  return encode([&](wire::ServiceMessage::Builder m) {
    auto answer = m.initQueuedWritesAnswer();
    answer.setAsk(ask);
    answer.setUnbounded(std::string(reason));
    answer.setSequence(sequence);
  });
}
std::vector<std::byte> encode_queued_writes_refused(uint64_t ask, std::string_view reason) {
  return encode([&](wire::ServiceMessage::Builder m) {
    auto answer = m.initQueuedWritesAnswer();
    answer.setAsk(ask);
    answer.setRefused(std::string(reason));
  });
}
std::vector<std::byte> encode_window_closed() {
  return encode([](wire::ServiceMessage::Builder m) { m.setWindowClosed(); });
}
std::vector<std::byte> encode_settled(uint64_t number) {
  return encode([&](wire::ServiceMessage::Builder m) { m.setSettled(number); });
}

}  // namespace orrery::service
