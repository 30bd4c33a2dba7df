#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstring>

#include "protocol/control_socket.hpp"
#include "protocol/messages.capnp.h"
#include "protocol/stretch.hpp"
#include "shared/log.hpp"

namespace orrery::protocol {
namespace {

std::vector<std::byte> bytes_of(capnp::MallocMessageBuilder& message) {
  const auto words = capnp::messageToFlatArray(message);
  const auto chars = words.asBytes();
  const auto* begin = reinterpret_cast<const std::byte*>(chars.begin());
  return {begin, begin + chars.size()};
}

// Both ends of the control socket must belong to the same user.
Result<void> check_peer(const ControlSocket& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return fail(ExitCode::internal, "cannot read who is at the other end of the control socket: {}",
                std::strerror(errno));
  }
  if (peer.uid != ::geteuid()) {
    return fail(ExitCode::protocol_mismatch, "the other end of the control socket belongs to user {}, not to us",
                peer.uid);
  }
  return {};
}

Result<Packet> receive_hello(const ControlSocket& socket, int timeout_ms) {
  auto packet = socket.receive(timeout_ms);
  if (!packet) return forward(std::move(packet), "waiting for the other process's greeting");
  std::optional<Packet> arrived = std::move(*packet);
  if (!arrived) return fail(ExitCode::peer_gone, "the other process did not greet within {} ms", timeout_ms);
  return std::move(*arrived);
}

// Runs `body(reader)` on a decoded Hello; a malformed one is an error, never an exception.
template <class Body>
Result<void> with_hello(const Packet& packet, Body body) {
  if (packet.bytes.size() % sizeof(capnp::word) != 0) {
    return fail(ExitCode::protocol_mismatch, "the greeting is no Cap'n Proto message ({} bytes)", packet.bytes.size());
  }
  std::vector<capnp::word> words(packet.bytes.size() / sizeof(capnp::word));
  std::memcpy(words.data(), packet.bytes.data(), packet.bytes.size());
  try {
    // Lists of nothing, which a short message can claim to be long; names are read several times.
    capnp::ReaderOptions limits;
    limits.traversalLimitInWords = 64 * words.size() + 4096;
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()), limits);
    const auto hello = reader.getRoot<wire::Hello>();
    if (hello.getVersion() != wire::PROTOCOL_VERSION) {
      return fail(ExitCode::protocol_mismatch,
                  "this program (build {}) speaks protocol {}, the other (build {}) speaks {}; rebuild both",
                  build_id(), wire::PROTOCOL_VERSION, hello.getBuildId().cStr(), hello.getVersion());
    }
    if (hello.getBuildId() != kj::StringPtr(build_id().c_str())) {
      log::warn("this program is build {}, the other build {}; both speak protocol {}", build_id(),
                hello.getBuildId().cStr(), wire::PROTOCOL_VERSION);
    }
    return body(hello);
  } catch (const kj::Exception& error) {
    return fail(ExitCode::protocol_mismatch, "the greeting is malformed: {}", error.getDescription().cStr());
  }
}

}  // namespace

Result<std::string> greet_service(const ControlSocket& socket, const OfferedMemory& memory,
                                  const ControlSegment& segment, uint32_t life, const RunOptions& options,
                                  int timeout_ms) {
  ORRERY_TRY(check_peer(socket));
  capnp::MallocMessageBuilder message;
  auto hello = message.initRoot<wire::Hello>();
  hello.setVersion(wire::PROTOCOL_VERSION);
  hello.setBuildId(build_id());
  hello.setArenaSize(memory.arena_size.value);
  hello.setSegmentSize(segment.size().value);
  hello.setLife(life);
  const PartTable& table = segment.parts();
  auto parts = hello.initParts(static_cast<unsigned>(table.size()));
  for (unsigned i = 0; i < table.size(); ++i) {
    parts[i].setName(std::string(name_of(static_cast<PartName>(i))));
    parts[i].setOffset(table[i].offset);
    parts[i].setSize(table[i].size);
  }
  auto run = hello.initOptions();
  run.setHeadless(options.headless);
  run.setLogicalClock(options.logical_clock);
  run.setKeepFramesDirectory(options.keep_frames_directory);
  run.setKeepEvery(options.keep_every);
  run.setTitle(options.title);
  std::vector<int> fds{memory.arena.get(), segment.fd().get(), memory.redo.get()};
  if (memory.pagemap != nullptr) {
    hello.setTracking(wire::Tracking::PAGEMAP);
    fds.push_back(memory.pagemap->get());
  } else if (memory.page_states != nullptr) {
    hello.setTracking(wire::Tracking::FAULTS);
    fds.push_back(memory.page_states->get());
  }
  const auto bytes = bytes_of(message);
  if (auto sent = socket.send(bytes, fds); !sent) return forward(std::move(sent), "greeting the GPU service");

  auto packet = receive_hello(socket, timeout_ms);
  if (!packet) return std::unexpected(std::move(packet.error()));
  std::string device;
  ORRERY_TRY(with_hello(*packet, [&](wire::Hello::Reader answer) -> Result<void> {
    device = answer.getDeviceName().cStr();
    return {};
  }));
  return device;
}

Result<GuestHello> greet_guest(const ControlSocket& socket, const std::string& device_name, int timeout_ms) {
  return greet_guest(socket, [&](const GuestHello&) -> Result<std::string> { return device_name; }, timeout_ms);
}

Result<GuestHello> greet_guest(const ControlSocket& socket, const OpenDevice& open_device, int timeout_ms) {
  ORRERY_TRY(check_peer(socket));
  auto packet = receive_hello(socket, timeout_ms);
  if (!packet) return std::unexpected(std::move(packet.error()));
  GuestHello result;
  size_t descriptors = 3;
  auto tracking = wire::Tracking::NONE;
  ORRERY_TRY(with_hello(*packet, [&](wire::Hello::Reader hello) -> Result<void> {
    result.arena_size = Bytes{hello.getArenaSize()};
    result.segment_size = Bytes{hello.getSegmentSize()};
    result.life = hello.getLife();
    std::array<bool, static_cast<size_t>(PartName::count)> seen{};
    for (const auto part : hello.getParts()) {
      for (size_t i = 0; i < seen.size(); ++i) {
        if (part.getName() != kj::StringPtr(std::string(name_of(static_cast<PartName>(i))).c_str())) continue;
        seen[i] = true;
        result.parts[i] = {part.getOffset(), part.getSize()};
      }
    }
    for (size_t i = 0; i < seen.size(); ++i) {
      if (!seen[i]) {
        return fail(ExitCode::protocol_mismatch, "the guest's greeting does not say where {} is",
                    name_of(static_cast<PartName>(i)));
      }
    }
    const auto run = hello.getOptions();
    result.options.headless = run.getHeadless();
    result.options.logical_clock = run.getLogicalClock();
    result.options.keep_frames_directory = run.getKeepFramesDirectory().cStr();
    result.options.keep_every = run.getKeepEvery() == 0 ? 1 : run.getKeepEvery();
    result.options.title = run.getTitle().cStr();
    tracking = hello.getTracking();
    if (tracking == wire::Tracking::PAGEMAP || tracking == wire::Tracking::FAULTS) ++descriptors;
    return {};
  }));
  if (packet->fds.size() != descriptors) {
    return fail(ExitCode::protocol_mismatch, "the guest's greeting carries {} descriptors, not {}", packet->fds.size(),
                descriptors);
  }
  result.arena = std::move(packet->fds[0]);
  result.segment = std::move(packet->fds[1]);
  result.redo = std::move(packet->fds[2]);
  if (tracking == wire::Tracking::PAGEMAP) result.pagemap = std::move(packet->fds[3]);
  if (tracking == wire::Tracking::FAULTS) result.page_states = std::move(packet->fds[3]);
  ORRERY_TRY(check_memory_file(result.arena, result.arena_size));
  ORRERY_TRY(check_memory_file(result.segment, result.segment_size));
  ORRERY_TRY(check_memory_file(result.redo, redo_memory_size(result.arena_size)));

  auto device_name = open_device(result);
  if (!device_name) return std::unexpected(std::move(device_name.error()));

  capnp::MallocMessageBuilder message;
  auto hello = message.initRoot<wire::Hello>();
  hello.setVersion(wire::PROTOCOL_VERSION);
  hello.setBuildId(build_id());
  hello.setLife(result.life);
  hello.setDeviceName(*device_name);
  const auto bytes = bytes_of(message);
  if (auto sent = socket.send(bytes); !sent) return forward(std::move(sent), "answering the guest process's greeting");
  return result;
}

}  // namespace orrery::protocol
