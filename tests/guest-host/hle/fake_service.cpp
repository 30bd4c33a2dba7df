#include "tests/guest-host/hle/fake_service.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <sys/socket.h>
#include <cstring>
#include <stdexcept>

#include "protocol/messages.capnp.h"
#include "protocol/ring.hpp"

namespace orrery::hle::test {

using namespace std::chrono_literals;
namespace wire = protocol::wire;

FakeService::FakeService(protocol::ControlSocket socket, ServiceScript script)
    : socket_(std::move(socket)), script_(std::move(script)), thread_([this] { run(); }) {}

void FakeService::die() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  ::shutdown(socket_.fd(), SHUT_RDWR);
}

void FakeService::run() {
  auto hello = protocol::greet_guest(socket_, "fake device", 5000);
  if (!hello) return;
  auto view = protocol::ControlSegmentView::open(std::move(hello->segment), hello->segment_size, hello->parts);
  if (!view) return;
  view_ = std::make_unique<protocol::ControlSegmentView>(std::move(*view));
  using protocol::PartName;
  auto redo = Mapping::of(hello->redo, {0}, protocol::redo_memory_size(hello->arena_size));
  if (!redo) return;
  redo_ = std::move(*redo);
  stretches_ = std::make_unique<protocol::StretchWriter>(
      *reinterpret_cast<protocol::StretchSlot*>(view_->part(PartName::stretch).data()), redo_.bytes(),
      hello->arena_size);
  journal_ =
      std::make_unique<protocol::JournalReader>(view_->part(PartName::journal), view_->part(PartName::journal_bytes));
  {
    const std::lock_guard lock(mutex_);
    ring_ = std::make_unique<protocol::RingProducer>(view_->part(PartName::service_to_guest));
  }
  protocol::RingConsumer from_guest(view_->part(PartName::guest_to_service));
  life_ = hello->life;
  ready_ = true;
  // A walk may miss an entry that is appended meanwhile and still see later ones; a second one finds all before those.
  if (const auto seen = journal_->open_entries(); !seen.empty()) execute_up_to(seen.back());
  while (!stopping_) {
    auto record = from_guest.pop(5ms);
    if (!record) return;
    if (*record) take(**record);
  }
}

void FakeService::take(std::span<const std::byte> message) {
  std::vector<capnp::word> words(message.size() / sizeof(capnp::word));
  std::memcpy(words.data(), message.data(), message.size());
  capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()));
  const auto from_guest = reader.getRoot<wire::GuestMessage>();
  if (from_guest.isSubmit() && from_guest.getSubmit() > last_) execute_up_to(from_guest.getSubmit());
  if (from_guest.isSettle()) say_settled(from_guest.getSettle());
  if (from_guest.isShutdown()) {
    saw_shutdown_ = true;
    ::shutdown(socket_.fd(), SHUT_RDWR);
    stopping_ = true;
  }
}

namespace {

template <class Fill>
std::vector<std::byte> encode(Fill fill) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<wire::ServiceMessage>());
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.begin());
  return {begin, begin + bytes.size()};
}

}  // namespace

void FakeService::execute_up_to(uint64_t last) {
  for (const uint64_t sequence : journal_->open_entries()) {
    if (sequence > last_ && sequence <= last) execute(sequence);
  }
}

void FakeService::execute(uint64_t sequence) {
  // A life that ended in a commit makes no other stretch.
  if (stopping_) return;
  last_ = sequence;
  auto entry = journal_->read(sequence);
  if (!entry) return;
  {
    const std::lock_guard lock(mutex_);
    executed_.push_back(*entry);
  }
  const std::lock_guard making(making_);
  stretches_->begin();
  stretches_->part_of(sequence);
  if (!script_.execute(*entry)) return;
  if (stretches_->done(sequence)) (void)stretches_->commit([this] { return stopping_.load(); });
}

void FakeService::say_bytes(std::span<const std::byte> bytes) {
  while (!ready_ && !stopping_) std::this_thread::sleep_for(1ms);
  const std::lock_guard lock(mutex_);
  if (ring_) ring_->push(bytes, 1s);
}

void FakeService::say_queue_event(uint32_t queue, uint32_t context_id) {
  while (!ready_ && !stopping_) std::this_thread::sleep_for(1ms);
  const std::lock_guard making(making_);
  if (stretches_->queue_event(queue, context_id)) (void)stretches_->commit([this] { return stopping_.load(); });
}

void FakeService::say_input(const link::PadInput& pad) {
  say_bytes(encode([&](wire::ServiceMessage::Builder m) {
    auto input = m.initInput();
    input.setButtons(pad.buttons);
    input.setLeftX(pad.left_x);
    input.setLeftY(pad.left_y);
    input.setRightX(pad.right_x);
    input.setRightY(pad.right_y);
    input.setL2(pad.l2);
    input.setR2(pad.r2);
  }));
}

void FakeService::say_refusal(const std::string& kind, const std::string& text, uint64_t count) {
  say_bytes(encode([&](wire::ServiceMessage::Builder m) {
    auto refusal = m.initRefusal();
    refusal.setKind(kind);
    refusal.setText(text);
    refusal.setCount(count);
  }));
}

void FakeService::say_settled(uint64_t number) {
  say_bytes(encode([&](wire::ServiceMessage::Builder m) { m.setSettled(number); }));
}

void FakeService::say_window_closed() {
  say_bytes(encode([](wire::ServiceMessage::Builder m) { m.setWindowClosed(); }));
}

std::vector<protocol::EntryCopy> FakeService::executed() const {
  const std::lock_guard lock(mutex_);
  return executed_;
}

FakeLauncher::FakeLauncher() {
  auto ends = protocol::ControlSocket::pair();
  if (!ends) throw std::runtime_error(ends.error().describe());
  ours_ = std::make_unique<protocol::ControlSocket>(std::move(ends->first));
  theirs_ = UniqueFd(::dup(ends->second.fd()));
}

UniqueFd FakeLauncher::guest_end() { return std::move(theirs_); }

std::unique_ptr<FakeService> FakeLauncher::start_service(uint32_t life, ServiceScript script) {
  auto ends = protocol::ControlSocket::pair();
  if (!ends) throw std::runtime_error(ends.error().describe());
  const std::string text = "service " + std::to_string(life) + " 4711 " + (life > 1 ? "died" : "first");
  const int fd = ends->first.fd();
  (void)ours_->send(std::as_bytes(std::span(text)), std::span(&fd, 1));
  return std::make_unique<FakeService>(std::move(ends->second), std::move(script));
}

std::string FakeLauncher::receive(int timeout_ms) {
  auto packet = ours_->receive(timeout_ms);
  if (!packet || !*packet) return {};
  return {reinterpret_cast<const char*>((*packet)->bytes.data()), (*packet)->bytes.size()};
}

void FakeLauncher::send(const std::string& text) { (void)ours_->send(std::as_bytes(std::span(text))); }

void FakeLauncher::hang_up() { ours_.reset(); }

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return condition();
}

}  // namespace orrery::hle::test
