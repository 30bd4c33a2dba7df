#include "tests/bench/standalone_guest.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstring>

#include "protocol/messages.capnp.h"

namespace orrery::bench {
namespace {

constexpr Bytes kArena{64 << 20};
constexpr uint64_t kCommands = 0x2'0000'0000;

}  // namespace

Result<std::unique_ptr<StandaloneGuest>> StandaloneGuest::start(const std::string& service) {
  std::unique_ptr<StandaloneGuest> guest(new StandaloneGuest);
  auto segment = protocol::ControlSegment::create();
  if (!segment) return std::unexpected(segment.error());
  guest->segment_.emplace(std::move(*segment));
  auto arena = make_memory_file("bench-arena", kArena);
  if (!arena) return std::unexpected(arena.error());
  guest->arena_ = std::move(*arena);
  using protocol::PartName;
  auto part = [&](PartName name) { return guest->segment_->part(name); };
  protocol::AddressMapWriter map(part(PartName::address_map));
  const protocol::MapEntry entry{kCommands, 1 << 20, 0, 0x33, static_cast<uint32_t>(protocol::MapKind::direct)};
  if (auto published = map.publish(std::span(&entry, 1)); !published) return std::unexpected(published.error());
  guest->journal_.emplace(part(PartName::journal), part(PartName::journal_bytes));
  guest->to_service_.emplace(part(PartName::guest_to_service));
  guest->to_service_->reset();
  protocol::RingProducer(part(PartName::service_to_guest)).reset();
  guest->from_service_.emplace(part(PartName::service_to_guest), protocol::WaitPolicy{.spins = 0});

  auto ends = protocol::ControlSocket::pair();
  if (!ends) return std::unexpected(ends.error());
  const std::string fd = std::to_string(ends->second.fd());
  guest->service_ = ::fork();
  if (guest->service_ == 0) {
    ::fcntl(ends->second.fd(), F_SETFD, 0);
    ::execl(service.c_str(), service.c_str(), "--control-fd", fd.c_str(), static_cast<char*>(nullptr));
    std::_Exit(127);
  }
  guest->socket_.emplace(std::move(ends->first));
  {
    protocol::ControlSocket theirs = std::move(ends->second);
  }
  protocol::RunOptions options;
  options.headless = true;
  auto greeted = protocol::greet_service(*guest->socket_, {guest->arena_, kArena}, *guest->segment_, 1, options, 30000);
  if (!greeted) return std::unexpected(greeted.error());
  return guest;
}

StandaloneGuest::~StandaloneGuest() {
  if (service_ <= 0) return;
  socket_.reset();  // the service sees us go
  ::kill(service_, SIGKILL);
  ::waitpid(service_, nullptr, 0);
}

uint64_t StandaloneGuest::submit_empty() {
  const protocol::SubmissionBody body{1, 0};
  const protocol::SubmittedBuffer buffer{kCommands, 1, 1};
  const uint32_t nop = 0xffff1000;
  const std::array<std::span<const std::byte>, 3> pieces{
      std::as_bytes(std::span(&body, 1)), std::as_bytes(std::span(&buffer, 1)), std::as_bytes(std::span(&nop, 1))};
  std::optional<uint64_t> sequence;
  while (!(sequence = journal_->try_append(protocol::EntryKind::submission, 0, 0, pieces))) {
  }
  capnp::MallocMessageBuilder message;
  message.initRoot<protocol::wire::GuestMessage>().setSubmit(*sequence);
  const auto words = capnp::messageToFlatArray(message);
  const auto chars = words.asBytes();
  to_service_->push({reinterpret_cast<const std::byte*>(chars.begin()), chars.size()}, std::chrono::seconds(10));
  return *sequence;
}

Result<void> StandaloneGuest::sleep_until_retired(uint64_t sequence) {
  while (!journal_->retired(sequence)) {
    auto record = from_service_->pop(std::chrono::milliseconds(5000));
    if (!record) return std::unexpected(record.error());
    if (!*record) return fail(ExitCode::service_lost, "submission {} was not retired within 5 s", sequence);
  }
  return {};
}

void StandaloneGuest::drain() {
  for (auto record = from_service_->try_pop(); record && *record; record = from_service_->try_pop()) {
  }
}

}  // namespace orrery::bench
