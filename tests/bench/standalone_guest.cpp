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
#include "shared/futex.hpp"

namespace orrery::bench {
namespace {

constexpr Bytes kArena{64 << 20};

}  // namespace

Result<std::unique_ptr<StandaloneGuest>> StandaloneGuest::start(const std::string& service) {
  std::unique_ptr<StandaloneGuest> guest(new StandaloneGuest);
  auto segment = protocol::ControlSegment::create();
  if (!segment) return std::unexpected(segment.error());
  guest->segment_.emplace(std::move(*segment));
  auto arena = make_memory_file("bench-arena", kArena);
  if (!arena) return std::unexpected(arena.error());
  guest->arena_ = std::move(*arena);
  const Bytes redo_size = protocol::redo_memory_size(kArena);
  auto redo = make_memory_file("bench-redo", redo_size);
  if (!redo) return std::unexpected(redo.error());
  guest->redo_ = std::move(*redo);
  auto redo_memory = Mapping::of(guest->redo_, {0}, redo_size);
  if (!redo_memory) return std::unexpected(redo_memory.error());
  auto arena_memory = Mapping::of(guest->arena_, {0}, kArena);
  if (!arena_memory) return std::unexpected(arena_memory.error());
  guest->redo_memory_ = std::move(*redo_memory);
  guest->arena_memory_ = std::move(*arena_memory);
  using protocol::PartName;
  auto part = [&](PartName name) { return guest->segment_->part(name); };
  protocol::AddressMapWriter map(part(PartName::address_map));
  const protocol::MapEntry entry{kMemory, 1 << 20, 0, 0x33, static_cast<uint32_t>(protocol::MapKind::direct)};
  if (auto published = map.publish(std::span(&entry, 1)); !published) return std::unexpected(published.error());
  guest->committer_.emplace(*reinterpret_cast<protocol::StretchSlot*>(part(PartName::stretch).data()),
                            *reinterpret_cast<protocol::Ledger*>(part(PartName::ledger).data()),
                            guest->redo_memory_.bytes(), guest->arena_memory_.bytes());
  guest->journal_.emplace(part(PartName::journal), part(PartName::journal_bytes));
  guest->to_service_.emplace(part(PartName::guest_to_service));
  guest->to_service_->reset();
  protocol::RingProducer(part(PartName::service_to_guest)).reset();
  guest->from_service_.emplace(part(PartName::service_to_guest), protocol::WaitPolicy{.spins = 0});

  guest->questions_.emplace(part(PartName::questions));
  guest->questions_->reset();
  protocol::RingProducer(part(PartName::answers)).reset();
  guest->answers_.emplace(part(PartName::answers));

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
  auto greeted = protocol::greet_service(*guest->socket_, {guest->arena_, kArena, guest->redo_}, *guest->segment_, 1,
                                         options, 30000);
  if (!greeted) return std::unexpected(greeted.error());
  guest->commits_ = std::jthread([raw = guest.get()](const std::stop_token& stop) { raw->serve_commits(stop); });
  return guest;
}

void StandaloneGuest::serve_commits(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    committer_->wait(std::chrono::milliseconds(50));
    for (;;) {
      auto stretch = committer_->take();
      if (!stretch || !*stretch) break;
      {
        const std::lock_guard lock(committing_);
        for (const auto& effect : (*stretch)->effects) {
          if (const auto* done = std::get_if<protocol::StretchDone>(&effect)) journal_->mark_retired(done->sequence);
        }
      }
      committer_->retire(**stretch);
      retired_.fetch_add(1, std::memory_order_release);
      futex_wake(retired_);
    }
  }
}

StandaloneGuest::~StandaloneGuest() {
  if (service_ <= 0) return;
  socket_.reset();  // the service sees us go
  ::kill(service_, SIGKILL);
  ::waitpid(service_, nullptr, 0);
}

uint64_t StandaloneGuest::submit(std::vector<uint32_t> dwords, uint32_t queue) {
  const protocol::SubmissionBody body{1, 0};
  const protocol::SubmittedBuffer buffer{kMemory, static_cast<uint32_t>(dwords.size()), 1};
  const std::array<std::span<const std::byte>, 3> pieces{
      std::as_bytes(std::span(&body, 1)), std::as_bytes(std::span(&buffer, 1)), std::as_bytes(std::span(dwords))};
  std::optional<uint64_t> sequence;
  do {
    const std::lock_guard lock(committing_);
    sequence = journal_->try_append(protocol::EntryKind::submission, queue, 0, pieces);
  } while (!sequence);
  capnp::MallocMessageBuilder message;
  message.initRoot<protocol::wire::GuestMessage>().setSubmit(*sequence);
  const auto words = capnp::messageToFlatArray(message);
  const auto chars = words.asBytes();
  to_service_->push({reinterpret_cast<const std::byte*>(chars.begin()), chars.size()}, std::chrono::seconds(10));
  return *sequence;
}

Result<void> StandaloneGuest::sleep_until_retired(uint64_t sequence) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    const uint32_t seen = retired_.load(std::memory_order_acquire);
    if (retired(sequence)) return {};
    if (std::chrono::steady_clock::now() > until) {
      return fail(ExitCode::service_lost, "submission {} was not retired within 5 s", sequence);
    }
    futex_wait(retired_, seen, std::chrono::seconds(1));
  }
}

Result<std::optional<size_t>> StandaloneGuest::queued_writes() {
  capnp::MallocMessageBuilder message;
  auto question = message.initRoot<protocol::wire::GuestMessage>().initQueuedWrites();
  question.setAsk(++last_ask_);
  const auto words = capnp::messageToFlatArray(message);
  const auto chars = words.asBytes();
  questions_->push({reinterpret_cast<const std::byte*>(chars.begin()), chars.size()}, std::chrono::seconds(1));
  auto record = answers_->pop(std::chrono::milliseconds(5000));
  if (!record) return std::unexpected(record.error());
  if (!*record) return fail(ExitCode::service_lost, "no answer within 5 s");
  std::vector<capnp::word> copy((*record)->size() / sizeof(capnp::word));
  std::memcpy(copy.data(), (*record)->data(), (*record)->size());
  capnp::FlatArrayMessageReader reader(kj::arrayPtr(copy.data(), copy.size()));
  const auto answer = reader.getRoot<protocol::wire::ServiceMessage>().getQueuedWritesAnswer();
  if (!answer.isSpans()) return std::optional<size_t>{};
  return std::optional<size_t>{answer.getSpans().size()};
}

void StandaloneGuest::drain() {
  for (auto record = from_service_->try_pop(); record && *record; record = from_service_->try_pop()) {
  }
}

}  // namespace orrery::bench
