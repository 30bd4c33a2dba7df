#include "guest-host/link/link.hpp"

#include <sys/eventfd.h>
#include <cerrno>
#include <cstring>

#include "guest-host/link/part_as.hpp"
#include "shared/log.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

// Different refusals that are listed one by one.
constexpr size_t kMostRefusals = 1000;
constexpr auto kAskAgain = 100ms;

}  // namespace

Result<std::unique_ptr<Link>> Link::create(UniqueFd launcher, const UniqueFd& arena, Bytes arena_size,
                                           LinkOptions options) {
  auto segment = protocol::ControlSegment::create();
  if (!segment) return forward(std::move(segment), "making the link to the GPU service");
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return fail(ExitCode::internal, "eventfd failed: {}", std::strerror(errno));
  const Bytes redo_size = protocol::redo_memory_size(arena_size);
  auto redo = make_memory_file("orrery-redo", redo_size);
  if (!redo) return forward(std::move(redo), "making the redo memory");
  auto redo_memory = Mapping::of(*redo, {0}, redo_size);
  if (!redo_memory) return forward(std::move(redo_memory), "mapping the redo memory");
  auto arena_memory = Mapping::of(arena, {0}, arena_size);
  if (!arena_memory) return forward(std::move(arena_memory), "mapping the arena");
  std::unique_ptr<Link> link(new Link(std::move(launcher), arena, arena_size, std::move(options), std::move(*segment),
                                      std::move(stop),
                                      {std::move(*redo), std::move(*redo_memory), std::move(*arena_memory)}));
  if (const std::string& path = link->options_.trace_file; !path.empty()) {
    auto trace = TraceWriter::start(link->segment_.measures(), path);
    if (!trace) return std::unexpected(std::move(trace.error()));
    link->trace_ = std::move(*trace);
  }
  return link;
}

Link::Link(UniqueFd launcher, const UniqueFd& arena, Bytes arena_size, LinkOptions options,
           protocol::ControlSegment segment, UniqueFd stop_event, StretchMemory memory)
    : options_(std::move(options)),
      arena_(arena),
      arena_size_(arena_size),
      segment_(std::move(segment)),
      redo_(std::move(memory.redo)),
      redo_memory_(std::move(memory.redo_memory)),
      arena_memory_(std::move(memory.arena_memory)),
      measuring_(segment_.measures(), measure::Process::guest),
      launcher_(std::move(launcher)),
      stop_event_(std::move(stop_event)),
      map_writer_(segment_.part(PartName::address_map)),
      reported_writes_(segment_.part(PartName::reported_writes)),
      log_(segment_),
      queued_writes_(segment_, log_),
      committer_(part_as<protocol::StretchSlot>(segment_, PartName::stretch),
                 part_as<protocol::Ledger>(segment_, PartName::ledger), redo_memory_.bytes(), arena_memory_.bytes()) {
  protocol::RingProducer(segment_.part(PartName::service_to_guest)).reset();
  measure::set_title(segment_.measures(), options_.run.title);
}

Link::~Link() {
  log_.stop();
  {
    const std::lock_guard state(state_);
    stopping_ = true;
  }
  changed_.notify_all();
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_event_.get(), &one, sizeof one);
  if (sockets_.joinable()) sockets_.join();
  if (ring_.joinable()) ring_.join();
  if (commits_.joinable()) commits_.join();
}

void Link::start(Listener& listener) {
  listener_ = &listener;
  sockets_ = std::jthread([this] { serve_sockets(); });
  ring_ = std::jthread([this] { serve_ring(); });
  commits_ = std::jthread([this] { serve_commits(); });
}

bool Link::wait_attached(std::chrono::milliseconds limit) {
  std::unique_lock state(state_);
  return changed_.wait_for(state, limit, [&] { return attached_; });
}

uint64_t Link::lives() const {
  const std::lock_guard state(state_);
  return life_;
}

EndReport Link::finish(int exit_code, std::chrono::milliseconds wait) {
  const auto until = std::chrono::steady_clock::now() + wait;
  EndReport report;
  log_.close();
  const auto gone = [&] {
    const std::lock_guard state(state_);
    return launcher_gone_;
  };
  auto open = log_.open();
  if (!open.empty()) log::info("waiting for {} open submission(s) of the title", open.size());
  while (!open.empty() && !gone() && std::chrono::steady_clock::now() < until) {
    log_.announce_rest();
    log_.wait_done(open.front(), 50ms);
    open = log_.open();
  }
  report.unfinished = open;
  if (!open.empty()) {
    log::warn("the title ended while the GPU was busy: {} submission(s) or flip(s) are unfinished (sequence {} to {})",
              open.size(), open.front(), open.back());
  }
  say_ledger(open.size());
  const std::string done = "done " + std::to_string(exit_code);
  if (auto sent = launcher_.send(std::as_bytes(std::span(done))); !sent) {
    log::debug("cannot tell the launcher: {}", sent.error().describe());
  }
  {
    const std::lock_guard state(state_);
    told_to_end_ = true;
  }
  changed_.notify_all();
  if (log_.announce_shutdown()) {
    // The service writes what it kept, then goes: that ends the wait.
    const auto limit = open.empty() ? until : std::min(until, std::chrono::steady_clock::now() + 1s);
    std::unique_lock state(state_);
    changed_.wait_until(state, limit, [&] { return !attached_ || launcher_gone_; });
  }
  log_.stop();
  if (const QueueFull full = log_.queue_full(); full.waits > 0) {
    log::info("queue full: the title waited {} time(s) for the GPU service, {} ms in all", full.waits,
              std::chrono::duration_cast<std::chrono::milliseconds>(full.waited).count());
  }
  if (const QueuedWritesCounts counts = queued_writes_.counts(); counts.settled > 0) {
    log::info("queued writes: {}", describe(counts));
  }
  if (trace_) trace_->finish();
  report.launcher_gone = gone();
  return report;
}

void Link::settle() {
  const uint64_t last = log_.submitted();
  std::unique_lock state(state_);
  if (settled_sequence_ == last) return;  // the service has had nothing since
  const uint64_t number = ++settle_asked_;
  state.unlock();
  if (watcher_ != nullptr) watcher_->settling();
  state.lock();
  // Asked again now and then: a life that was asked may have died, or the ring been full.
  while (settled_ < number && !stopping_ && !launcher_gone_ && !told_to_end_) {
    state.unlock();
    log_.ask_to_settle(number);
    state.lock();
    changed_.wait_for(state, kAskAgain,
                      [&] { return settled_ >= number || stopping_ || launcher_gone_ || told_to_end_; });
  }
  const bool answered = settled_ >= number;
  state.unlock();
  const uint64_t open = log_.open().size();
  if (watcher_ != nullptr && answered) watcher_->settled(open);
  state.lock();
  if (open == 0 && answered) settled_sequence_ = last;
}

std::string Link::refusal_summary() const {
  const std::lock_guard state(state_);
  std::string text;
  for (const auto& [what, counted] : refusals_) {
    text += fmt::format("  {} x {}\n", counted.before + counted.now, what);
  }
  if (unlisted_refusals_ > 0) text += fmt::format("  {} more messages of other kinds\n", unlisted_refusals_);
  return text;
}

void Link::count_refusal(const std::string& kind, const std::string& text, uint64_t count) {
  const std::lock_guard state(state_);
  const std::string what = kind + ": " + text;
  const bool first = !refusals_.contains(what);
  if (first && refusals_.size() >= kMostRefusals) {
    ++unlisted_refusals_;
    return;
  }
  refusals_[what].now = std::max<uint64_t>(count, 1);
  if (first) log::warn("the GPU service refuses {}", what);
}

}  // namespace orrery::link
