#include "guest-host/link/wire_codec.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <cstring>

#include "protocol/messages.capnp.h"

namespace orrery::link {
namespace {

namespace wire = protocol::wire;

template <class Fill>
std::vector<std::byte> encode(Fill fill) {
  capnp::word scratch[32] = {};
  capnp::MallocMessageBuilder message(kj::arrayPtr(scratch, 32));
  fill(message.initRoot<wire::GuestMessage>());
  const auto words = capnp::messageToFlatArray(message);
  const auto chars = words.asBytes();
  const auto* begin = reinterpret_cast<const std::byte*>(chars.begin());
  return {begin, begin + chars.size()};
}

PadInput pad_of(wire::Input::Reader input) {
  return {input.getButtons(), input.getLeftX(), input.getLeftY(), input.getRightX(),
          input.getRightY(),  input.getL2(),    input.getR2()};
}

QueuedWritesAnswer answer_of(wire::QueuedWritesAnswer::Reader from) {
  QueuedWritesAnswer answer;
  answer.ask = from.getAsk();
  answer.sequence = from.getSequence();
  switch (from.which()) {
    case wire::QueuedWritesAnswer::SPANS:
      answer.spans.reserve(from.getSpans().size());
      for (const auto span : from.getSpans()) {
        answer.spans.push_back({{span.getAddress()}, {span.getSize()}, span.getSequence()});
      }
      break;
    case wire::QueuedWritesAnswer::UNBOUNDED:
      answer.unbounded = from.getUnbounded().cStr();
      if (answer.unbounded.empty()) answer.unbounded = "for no reason given";
      break;
    case wire::QueuedWritesAnswer::REFUSED:
      answer.refused = from.getRefused().cStr();
      if (answer.refused.empty()) answer.refused = "for no reason given";
      break;
  }
  return answer;
}

FromService convert(wire::ServiceMessage::Reader message) {
  switch (message.which()) {
    case wire::ServiceMessage::INPUT:
      return pad_of(message.getInput());
    case wire::ServiceMessage::REFUSAL: {
      const auto refusal = message.getRefusal();
      return ServiceRefusal{refusal.getKind().cStr(), refusal.getText().cStr(), refusal.getCount()};
    }
    case wire::ServiceMessage::WINDOW_CLOSED:
      return WindowClosed{};
    case wire::ServiceMessage::SETTLED:
      return Settled{message.getSettled()};
    case wire::ServiceMessage::QUEUED_WRITES_ANSWER:
      return answer_of(message.getQueuedWritesAnswer());
    default:
      return Unexpected{};
  }
}

}  // namespace

uint32_t wire_version() { return wire::PROTOCOL_VERSION; }

std::vector<std::byte> encode_submit(uint64_t sequence) {
  return encode([&](wire::GuestMessage::Builder m) { m.setSubmit(sequence); });
}
std::vector<std::byte> encode_map_changed(uint64_t version) {
  return encode([&](wire::GuestMessage::Builder m) { m.setMapChanged(version); });
}
std::vector<std::byte> encode_settle(uint64_t number) {
  return encode([&](wire::GuestMessage::Builder m) { m.setSettle(number); });
}
std::vector<std::byte> encode_shutdown() {
  return encode([](wire::GuestMessage::Builder m) { m.setShutdown(); });
}

std::vector<std::byte> encode_queued_writes(uint64_t ask, uint64_t last) {
  return encode([&](wire::GuestMessage::Builder m) {
    auto question = m.initQueuedWrites();
    question.setAsk(ask);
    question.setSequence(last);
  });
}

Result<FromService> decode_from_service(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() % sizeof(capnp::word) != 0) {
    return fail(ExitCode::protocol_mismatch, "a message of {} bytes from the GPU service is no Cap'n Proto message",
                bytes.size());
  }
  std::vector<capnp::word> words(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  try {
    // Lists of nothing, which a short message can claim to be long.
    capnp::ReaderOptions limits;
    limits.traversalLimitInWords = 4 * words.size() + 256;
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()), limits);
    return convert(reader.getRoot<wire::ServiceMessage>());
  } catch (const kj::Exception& error) {
    return fail(ExitCode::protocol_mismatch, "a message from the GPU service is malformed: {}",
                error.getDescription().cStr());
  }
}

}  // namespace orrery::link
