// Measuring: a Span times what its block does, `count` adds to a counter. Fixed cost, no lock, no allocation; where
// nothing is attached, they do nothing. With the logger, the process's only global state: every layer measures, and
// none should have to be given the means.
#pragma once

#include <chrono>
#include <mutex>

#include "shared/measure/layout.hpp"

namespace orrery::measure {

// The guest process prepares the (zeroed) region once.
void format(Region& region);
void set_title(Region& region, std::string_view title);

// From now on this process's threads record into `region`, which must stay mapped until `detach` and after it until no
// thread is inside a span. A life of the service takes over what earlier lives counted.
void attach(Region& region, Process process, uint32_t life = 0);
void detach();
// Attached while it lives.
class [[nodiscard]] Attachment {
 public:
  Attachment(Region& region, Process process, uint32_t life = 0) { attach(region, process, life); }
  ~Attachment() { detach(); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
};

uint64_t now_ns();  // CLOCK_MONOTONIC

struct Track {
  TrackKind kind = TrackKind::thread;
  uint32_t number = 0;
};

// A time known afterwards, as the device's.
void record(SpanName name, uint64_t start_ns, uint64_t duration_ns, uint64_t detail, Track track);
void count(Counter counter, uint64_t amount = 1);

// Spans of a thread end in the opposite order of their beginnings.
class Span {
 public:
  explicit Span(SpanName name, uint64_t detail = 0);
  ~Span() { end(); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  // Says more about what it is, when that is known.
  void set_detail(uint64_t detail);
  void end();
  // It was nothing: not counted.
  void discard();

 private:
  // Takes it off the thread's open spans; null when it is none of this attachment's.
  Slot* close(uint64_t& whole_ns);

  Slot* slot_;
  Span* outer_ = nullptr;
  uint64_t start_ns_ = 0;
  uint64_t detail_ = 0;
  uint64_t lock_waits_ns_ = 0;  // inside it, and not its own
  uint32_t depth_ = 0;
  SpanName name_;
};

// A lock_guard that counts as "lock wait" when it has to wait.
template <class Mutex>
class [[nodiscard]] CountedLock {
 public:
  explicit CountedLock(Mutex& mutex) : mutex_(mutex) {
    if (mutex_.try_lock()) return;
    const Span waiting(SpanName::lock_wait);
    mutex_.lock();
  }
  ~CountedLock() { mutex_.unlock(); }
  CountedLock(const CountedLock&) = delete;
  CountedLock& operator=(const CountedLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace orrery::measure
