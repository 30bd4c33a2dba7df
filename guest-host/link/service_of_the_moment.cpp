// The link's two threads: one serves the sockets (launcher, life and death of the service), one the ring.
#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "guest-host/link/link.hpp"
#include "guest-host/link/wire_codec.hpp"
#include "shared/log.hpp"
#include "shared/measure/snapshot.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

// "service LIFE PID" -> LIFE; 0 for anything else.
uint32_t life_of(std::span<const std::byte> packet) {
  std::string_view text(reinterpret_cast<const char*>(packet.data()), packet.size());
  constexpr std::string_view kVerb = "service ";
  if (!text.starts_with(kVerb)) return 0;
  text.remove_prefix(kVerb.size());
  uint32_t life = 0;
  std::from_chars(text.data(), text.data() + text.size(), life);
  return life;
}

}  // namespace

void Link::serve_sockets() {
  for (;;) {
    std::array<pollfd, 3> waits{
        {{stop_event_.get(), POLLIN, 0}, {launcher_.fd(), POLLIN, 0}, {service_ ? service_->fd() : -1, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0) break;
    // The service's end first: a new life from the launcher comes behind it.
    if (waits[2].revents != 0) on_service();
    if (waits[1].revents != 0 && !on_launcher()) break;
  }
  drop_service();
}

bool Link::on_launcher() {
  auto packet = launcher_.receive(0);
  if (!packet) {
    {
      const std::lock_guard state(state_);
      launcher_gone_ = true;
    }
    changed_.notify_all();
    log_.stop();
    listener_->run_must_end({ExitCode::peer_gone, "the launcher is gone", {}});
    return false;
  }
  if (!*packet) return true;
  const uint32_t life = life_of((*packet)->bytes);
  if (life == 0 || (*packet)->fds.size() != 1) {
    log::warn("the launcher sent a packet that is no 'service LIFE PID' with a descriptor; ignored");
    return true;
  }
  drop_service();
  greet(life, std::move((*packet)->fds[0]));
  return true;
}

void Link::on_service() {
  auto packet = service_->receive(0);
  if (packet) return;  // nobody sends anything after the greeting; a packet means nothing to us
  log::info("the GPU service (life {}) is gone; waiting for the next", life_);
  drop_service();
}

void Link::greet(uint32_t life, UniqueFd fd) {
  service_.emplace(std::move(fd));
  {
    const std::lock_guard receive(receive_);
    protocol::RingProducer(segment_.part(PartName::service_to_guest)).reset();
    from_service_.emplace(segment_.part(PartName::service_to_guest));
  }
  log_.attach();
  queued_writes_.attach();
  const protocol::OfferedMemory memory{arena_, arena_size_, pagemap_ ? &pagemap_ : nullptr};
  auto device = protocol::greet_service(*service_, memory, segment_, life, options_.run, options_.greet_timeout_ms);
  if (!device) {
    drop_service();
    if (device.error().code == ExitCode::peer_gone) {
      log::info("the GPU service (life {}) went before it greeted: {}", life, device.error().describe());
    } else {
      listener_->run_must_end(device.error());
    }
    return;
  }
  log::info("GPU service, life {}: {}", life, *device);
  {
    const std::lock_guard state(state_);
    attached_ = true;
    life_ = life;
    for (auto& [what, counted] : refusals_) {
      counted.before += counted.now;
      counted.now = 0;
    }
  }
  changed_.notify_all();
  constexpr std::string_view kReady = "ready";
  if (auto sent = launcher_.send(std::as_bytes(std::span(kReady))); !sent) {
    log::debug("cannot tell the launcher: {}", sent.error().describe());
  }
}

void Link::drop_service() {
  if (!service_) return;
  log_.detach();
  queued_writes_.detach();
  {
    const std::lock_guard state(state_);
    attached_ = false;
  }
  changed_.notify_all();
  {
    // Its last messages count, and what it retired without a word too.
    const std::lock_guard receive(receive_);
    while (take_message(0ms)) {
    }
    from_service_.reset();
    report_done(std::nullopt);
  }
  say_last_words();
  // Nobody will say that a key was let go.
  listener_->input(PadInput{});
  service_.reset();
}

void Link::say_last_words() {
  const auto open = measure::open_spans(segment_.measures(), measure::Process::service, measure::now_ns());
  if (trace_) trace_->life_ended();
  bool expected = false;
  {
    const std::lock_guard state(state_);
    expected = told_to_end_ || stopping_;
  }
  if (expected) return;
  for (const std::string& line : measure::last_words(open)) {
    log::warn("the GPU service (life {}) died in: {}", life_, line);
  }
}

void Link::serve_ring() {
  for (;;) {
    {
      std::unique_lock state(state_);
      changed_.wait(state, [&] { return attached_ || stopping_; });
      if (stopping_) return;
    }
    const std::lock_guard receive(receive_);
    // One wait, then everything that is there.
    if (!take_message(20ms)) continue;
    while (take_message(0ms)) {
    }
  }
}

bool Link::take_message(std::chrono::milliseconds wait) {
  if (!from_service_) return false;
  auto record = wait == 0ms ? from_service_->try_pop() : from_service_->pop(wait);
  if (record && !*record) return false;
  auto message = record ? decode_from_service(**record) : std::unexpected(std::move(record.error()));
  if (!message) {
    // A service that talks nonsense is treated as one that died: hanging up makes it end, the launcher starts another.
    log::warn("hanging up on the GPU service: {}", message.error().describe());
    from_service_.reset();
    ::shutdown(service_->fd(), SHUT_RDWR);
    return false;
  }
  struct Handle {
    Link& link;
    void operator()(const Retired&) { link.report_done(std::nullopt); }  // the journal says which
    void operator()(const FlipDone& m) { link.report_done(m.sequence); }
    void operator()(const QueueEvent& m) { link.listener_->queue_event(m.queue, m.context_id); }
    void operator()(const PadInput& m) { link.listener_->input(m); }
    void operator()(const ServiceRefusal& m) { link.count_refusal(m.kind, m.text, m.count); }
    void operator()(const WindowClosed&) { link.listener_->window_closed(); }
    void operator()(const Settled& m) {
      {
        const std::lock_guard state(link.state_);
        link.settled_ = std::max(link.settled_, m.number);
      }
      link.changed_.notify_all();
    }
    void operator()(const QueuedWritesAnswer&) {}  // comes over its own ring
    void operator()(const Unexpected&) {}
  };
  std::visit(Handle{*this}, *message);
  return true;
}

void Link::report_done(std::optional<uint64_t> said_done) {
  for (const auto& done : log_.collect(said_done)) listener_->retired(done.sequence, done.kind);
}

}  // namespace orrery::link
