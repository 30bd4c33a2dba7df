// The link's two threads: one serves the sockets (launcher, life and death of the service), one the ring.
#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string_view>

#include "guest-host/link/link.hpp"
#include "guest-host/link/part_as.hpp"
#include "guest-host/link/wire_codec.hpp"
#include "shared/log.hpp"
#include "shared/measure/snapshot.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

// "service LIFE PID HOW": HOW is what the life before it came to.
struct NewLife {
  uint32_t life = 0;  // 0: it says something else
  LifeEnd before = LifeEnd::none;
};
NewLife new_life(std::span<const std::byte> packet) {
  std::string_view text(reinterpret_cast<const char*>(packet.data()), packet.size());
  constexpr std::string_view kVerb = "service ";
  if (!text.starts_with(kVerb)) return {};
  text.remove_prefix(kVerb.size());
  NewLife made;
  std::from_chars(text.data(), text.data() + text.size(), made.life);
  if (text.ends_with(" died")) made.before = LifeEnd::died;
  if (text.ends_with(" killed")) made.before = LifeEnd::killed;
  if (text.ends_with(" swapped")) made.before = LifeEnd::swapped;
  return made;
}

constexpr int kPulseMs = 250;
// The service looks after its dispatches itself and beats meanwhile; who does not even beat is given longer, since
// compiling takes its time.
constexpr int kSilentLimits = 3;

// Somebody looks at the process with a debugger: then it may stand still.
bool traced(uint32_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return line.find_first_not_of("\t 0", 10) != std::string::npos;
  }
  return false;
}

}  // namespace

void Link::feel_pulse() {
  const auto now = std::chrono::steady_clock::now();
  const uint64_t beat = part_as<protocol::ServiceStatus>(segment_, PartName::status).heartbeat.load();
  // Time in which we did not run either (the machine slept) counts for nothing.
  const bool both_slept = now - std::exchange(felt_at_, now) > 8 * std::chrono::milliseconds(kPulseMs);
  if (beat != beat_ || both_slept) {
    beat_ = beat;
    beat_at_ = now;
    return;
  }
  if (now - beat_at_ < kSilentLimits * hang_limit_) return;
  beat_at_ = now;
  if (traced(part_as<protocol::ServiceStatus>(segment_, PartName::status).process.load())) return;
  log::warn("the GPU service (life {}) has not moved for {} s", life_, kSilentLimits * hang_limit_.count());
  const std::string hung = "hung " + std::to_string(life_);
  if (auto sent = launcher_.send(std::as_bytes(std::span(hung))); !sent) {
    log::debug("cannot tell the launcher: {}", sent.error().describe());
  }
}

void Link::serve_sockets() {
  for (;;) {
    std::array<pollfd, 3> waits{
        {{stop_event_.get(), POLLIN, 0}, {launcher_.fd(), POLLIN, 0}, {service_ ? service_->fd() : -1, POLLIN, 0}}};
    const int ready = ::poll(waits.data(), waits.size(), service_ ? kPulseMs : -1);
    if (ready < 0) continue;
    if (ready == 0) feel_pulse();
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
  const auto [life, before] = new_life((*packet)->bytes);
  if (life == 0 || (*packet)->fds.size() != 1) {
    log::warn("the launcher sent a packet that is no 'service LIFE PID HOW' with a descriptor; ignored");
    return true;
  }
  drop_service();
  judge_last_life(before);
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
  const protocol::OfferedMemory memory{arena_, arena_size_, redo_, pagemap_ ? &pagemap_ : nullptr, page_states_};
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
  beat_at_ = felt_at_ = std::chrono::steady_clock::now();
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
    // Its last messages count.
    const std::lock_guard receive(receive_);
    while (take_message(0ms)) {
    }
    from_service_.reset();
  }
  // And so does what it executed.
  while (commit_one()) {
  }
  {
    const std::lock_guard commit(commit_);
    if (died_ns_ == 0) died_ns_ = measure::now_ns();
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
  const auto& status = part_as<protocol::ServiceStatus>(segment_, PartName::status);
  log::warn(
      "the GPU service (life {}) was at stretch {}, submission {}, queue {}, dword {}, program {:#x} (hash "
      "{:016x}{:016x})",
      life_, part_as<protocol::StretchSlot>(segment_, PartName::stretch).begun.load(), status.current_sequence.load(),
      status.current_queue.load(), status.current_packet.load(), status.current_program.load(),
      status.current_hash_high.load(), status.current_hash_low.load());
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
    hang_up(message.error());
    return false;
  }
  struct Handle {
    Link& link;
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

// A service that talks nonsense is treated as one that died: hanging up makes it end, the launcher starts another.
// Under `receive_`.
void Link::hang_up(const Error& why) {
  log::warn("hanging up on the GPU service: {}", why.describe());
  if (!from_service_) return;
  from_service_.reset();
  ::shutdown(service_->fd(), SHUT_RDWR);
}

}  // namespace orrery::link
