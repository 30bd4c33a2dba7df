// The guest process's end of everything outside it: the control segment, the launcher's socket, and the GPU service of
// the moment. A dead service is waited for: the title's threads notice nothing but time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "guest-host/link/listener.hpp"
#include "guest-host/link/queued_writes.hpp"
#include "guest-host/link/submission_log.hpp"
#include "guest-host/link/trace_writer.hpp"
#include "protocol/address_map.hpp"
#include "protocol/control_socket.hpp"
#include "protocol/reported_writes.hpp"
#include "protocol/stretch.hpp"
#include "shared/measure/span.hpp"

namespace orrery::link {

struct LinkOptions {
  protocol::RunOptions run;
  int greet_timeout_ms = 60'000;
  std::chrono::milliseconds exit_wait{10'000};  // for open submissions at the end of the run
  std::string trace_file;                       // empty: none
};

enum class LifeEnd : uint8_t { none, died, killed, swapped };  // killed: by somebody else

// How the run ended, as far as the service is concerned.
struct EndReport {
  std::vector<uint64_t> unfinished;  // sequences still open
  bool launcher_gone = false;
};

class Link {
 public:
  // `launcher` is our end of the launcher's socket. `arena` must outlive the link.
  static Result<std::unique_ptr<Link>> create(UniqueFd launcher, const UniqueFd& arena, Bytes arena_size,
                                              LinkOptions options);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // For GuestMemory::publish_to, together with `map_changed`.
  protocol::AddressMapWriter& map_writer() { return map_writer_; }
  void map_changed(uint64_t version) { log_.announce_map(version); }
  // For GuestMemory::report_to.
  protocol::ReportedWritesWriter& reported_writes() { return reported_writes_; }
  // Every life of the service may harvest this process's writes through it. Before start().
  void offer_pagemap(UniqueFd pagemap) { pagemap_ = std::move(pagemap); }
  // Or read its page states and have pages armed; the descriptor must outlive the link.
  void offer_page_states(const UniqueFd& states) { page_states_ = &states; }
  SubmissionLog& submissions() { return log_; }
  // Sees every entry and every settling from now on. Before start(); must outlive the link.
  void set_watcher(SubmissionWatcher* watcher) {
    watcher_ = watcher;
    log_.set_watcher(watcher);
  }
  // Waits until the service, of whichever life, has done all that it can, and the listener has heard of it. Ends early
  // when the run does.
  void settle();
  QueuedWrites& queued_writes() { return queued_writes_; }
  const protocol::ControlSegment& segment() const { return segment_; }
  const LinkOptions& options() const { return options_; }

  // How long one dispatch of the service may take. Before start().
  void set_hang_limit(std::chrono::seconds limit) { hang_limit_ = limit; }
  // Starts the threads that serve launcher and service. `listener` must outlive the link.
  void start(Listener& listener);
  // Waits until a life of the service is attached.
  bool wait_attached(std::chrono::milliseconds limit);

  // The title ended with `exit_code`: waits for open submissions (bounded; ends early when the launcher is gone), tells
  // the launcher, then the service. Says on stderr what stays unfinished.
  EndReport finish(int exit_code) { return finish(exit_code, options_.exit_wait); }
  EndReport finish(int exit_code, std::chrono::milliseconds wait);
  // What the service refused over all its lives, one line each; empty when nothing.
  std::string refusal_summary() const;
  uint64_t lives() const;

 private:
  struct StretchMemory {
    UniqueFd redo;
    Mapping redo_memory, arena_memory;
  };
  Link(UniqueFd launcher, const UniqueFd& arena, Bytes arena_size, LinkOptions options,
       protocol::ControlSegment segment, UniqueFd stop_event, StretchMemory memory);
  void serve_sockets();
  bool on_launcher();
  void on_service();
  void greet(uint32_t life, UniqueFd fd);
  // Looks at the service's heart-beat; one that stands still for long is told to the launcher, which ends it.
  void feel_pulse();
  void drop_service();
  // Says what a service that died was doing, and keeps it for the trace.
  void say_last_words();
  void serve_ring();
  // Takes and handles one message; false when there was none in `wait` or the ring is damaged.
  bool take_message(std::chrono::milliseconds wait);
  // The commit thread: applies what the service has executed, and publishes it.
  void serve_commits();
  // True when there was a stretch.
  bool commit_one();
  void hang_up(const Error& why);
  // The last life is gone for good: what it died of, and what the next is to be careful with.
  void judge_last_life(LifeEnd how);
  // Under `commit_`: a stretch was retired after a death.
  void note_recovery();
  void say_ledger(size_t unfinished);
  void count_refusal(const std::string& kind, const std::string& text, uint64_t count);

  LinkOptions options_;
  const UniqueFd& arena_;
  Bytes arena_size_;
  UniqueFd pagemap_;
  const UniqueFd* page_states_ = nullptr;
  protocol::ControlSegment segment_;
  UniqueFd redo_;
  Mapping redo_memory_, arena_memory_;  // neither is a window of the title: nobody tracks stores there
  measure::Attachment measuring_;
  protocol::ControlSocket launcher_;
  UniqueFd stop_event_;
  protocol::AddressMapWriter map_writer_;
  protocol::ReportedWritesWriter reported_writes_;
  SubmissionLog log_;
  QueuedWrites queued_writes_;
  Listener* listener_ = nullptr;
  SubmissionWatcher* watcher_ = nullptr;

  std::unique_ptr<TraceWriter> trace_;

  std::mutex commit_;  // held while a stretch is applied and published
  protocol::StretchCommitter committer_;

  // Held while messages are taken and reported, so that a life's messages are all handled before the next life's.
  std::mutex receive_;
  std::optional<protocol::RingConsumer> from_service_;
  // The socket thread's. The ring thread hangs up on it, under `receive_` and only while `from_service_` is there; the
  // socket thread makes it before that and drops it after that.
  std::optional<protocol::ControlSocket> service_;

  mutable std::mutex state_;
  std::condition_variable changed_;
  bool attached_ = false;
  bool told_to_end_ = false;  // the service, by us
  bool stopping_ = false;
  bool launcher_gone_ = false;
  uint32_t life_ = 0;
  uint64_t settle_asked_ = 0, settled_ = 0;
  uint64_t settled_sequence_ = 0;  // everything up to it was done when the service last settled
  // By kind and text: what earlier lives counted, and this life's latest count.
  struct Counted {
    uint64_t before = 0, now = 0;
  };
  std::map<std::string, Counted> refusals_;
  uint64_t unlisted_refusals_ = 0;

  std::jthread sockets_;
  std::jthread ring_;
  std::jthread commits_;

  std::chrono::seconds hang_limit_{10};
  // The socket thread's: the heart-beat when it was last seen to move, and when.
  uint64_t beat_ = 0;
  std::chrono::steady_clock::time_point beat_at_, felt_at_;
  uint64_t died_ns_ = 0;  // under `commit_`: when a life was found gone, until a stretch is retired again
};

}  // namespace orrery::link
