#include "guest-host/link/queued_writes.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "guest-host/link/wire_codec.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using protocol::PartName;

constexpr auto kAnswerLimit = 500ms;  // for one answer
constexpr auto kSlice = 10ms;         // between two questions of one wait
constexpr auto kPatience = 2s;        // for one range
constexpr size_t kMostReasons = 64;

uint64_t end_of(GuestAddress begin, Bytes size) {
  return size.value > UINT64_MAX - begin.value ? UINT64_MAX : begin.value + size.value;
}

// The newest submission that the range has to wait for; 0: none.
uint64_t concerned(const QueuedWritesAnswer& answer, GuestAddress begin, Bytes size, Unbounded unbounded) {
  if (!answer.unbounded.empty()) return unbounded == Unbounded::wait ? answer.sequence : 0;
  uint64_t newest = 0;
  for (const QueuedSpan& span : answer.spans) {
    const bool apart = span.begin.value >= end_of(begin, size) || begin.value >= end_of(span.begin, span.size);
    if (!apart) newest = std::max(newest, span.sequence);
  }
  return newest;
}

// Numbers change from question to question; what they say in words does not.
std::string without_numbers(const std::string& text) {
  std::string out;
  bool number = false;
  for (const char c : text) {
    const bool digit = (c >= '0' && c <= '9') || (number && ((c >= 'a' && c <= 'f') || c == 'x'));
    if (!digit) out += c;
    if (digit && !number) out += '#';
    number = digit;
  }
  return out;
}

double ms(std::chrono::nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

std::string describe(const QueuedWritesCounts& c) {
  std::string text = fmt::format("{} ranges, {} questions ({:.1f} ms), {} waits ({:.1f} ms)", c.settled, c.asks,
                                 ms(c.asked), c.waits, ms(c.waited));
  if (c.unanswered != 0) text += fmt::format(", {} unanswered", c.unanswered);
  if (c.given_up != 0) text += fmt::format(", {} given up", c.given_up);
  for (const auto& [reason, count] : c.reasons) text += fmt::format("\n  unbounded, {} x {}", count, reason);
  return text;
}

QueuedWrites::QueuedWrites(const protocol::ControlSegment& segment, SubmissionLog& log)
    : log_(log),
      questions_memory_(segment.part(PartName::questions)),
      answers_memory_(segment.part(PartName::answers)),
      questions_(questions_memory_),
      answers_(answers_memory_) {
  questions_.reset();
  protocol::RingProducer(answers_memory_).reset();
}

void QueuedWrites::attach() {
  // Who asks notices within a slice that the old life is gone.
  const std::lock_guard asking(asking_);
  questions_.reset();
  protocol::RingProducer(answers_memory_).reset();
  attached_.store(true);
}

void QueuedWrites::detach() { attached_.store(false); }

std::optional<QueuedWritesAnswer> QueuedWrites::ask(uint64_t last, std::chrono::milliseconds limit) {
  const auto began = Clock::now();
  std::optional<QueuedWritesAnswer> answer;
  {
    const measure::Span span(measure::SpanName::queued_writes, last);
    answer = ask_now(last, limit);
  }
  const std::lock_guard counting(counting_);
  counts_.asks += 1;
  counts_.asked += Clock::now() - began;
  if (!answer) counts_.unanswered += 1;
  if (answer && !answer->unbounded.empty()) {
    counts_.unbounded += 1;
    const std::string reason = without_numbers(answer->unbounded);
    if (counts_.reasons.size() < kMostReasons || counts_.reasons.contains(reason)) counts_.reasons[reason] += 1;
  }
  return answer;
}

std::optional<QueuedWritesAnswer> QueuedWrites::ask_now(uint64_t last, std::chrono::milliseconds limit) {
  const std::lock_guard asking(asking_);
  const auto until = Clock::now() + limit;
  const uint64_t number = ++last_ask_;
  if (!attached_.load() || !questions_.try_push(encode_queued_writes(number, last))) return std::nullopt;
  while (attached_.load() && Clock::now() < until) {
    auto record = answers_.pop(std::chrono::duration_cast<std::chrono::milliseconds>(kSlice));
    if (!record) break;
    if (!*record) continue;
    auto message = decode_from_service(**record);
    auto* answer = message ? std::get_if<QueuedWritesAnswer>(&*message) : nullptr;
    // A service that talks nonsense here will do so elsewhere, and is hung up on there.
    if (answer == nullptr) break;
    if (answer->ask != number) continue;  // of a question that was given up
    if (!answer->refused.empty()) break;
    return std::move(*answer);
  }
  return std::nullopt;
}

bool QueuedWrites::settle(GuestAddress begin, Bytes size, Unbounded unbounded) {
  if (size.value == 0 || !log_.any_open()) return true;
  const uint64_t last = log_.submitted();
  const auto began = Clock::now();
  std::optional<Clock::time_point> waiting;
  const auto done = [&](bool settled) {
    const std::lock_guard counting(counting_);
    counts_.settled += 1;
    if (waiting) {
      counts_.waits += 1;
      counts_.waited += Clock::now() - *waiting;
    }
    if (!settled) counts_.given_up += 1;
    return settled;
  };
  for (;;) {
    const auto answer = ask(last, kAnswerLimit);
    // Without an answer everything open counts.
    uint64_t sequence = 0;
    if (answer) {
      sequence = concerned(*answer, begin, size, unbounded);
    } else if (unbounded == Unbounded::wait) {
      sequence = log_.newest_open(last);
    }
    if (sequence == 0) return done(true);
    if (hopeless(sequence)) return done(false);
    if (!waiting) waiting = Clock::now();
    const auto left = began + kPatience - Clock::now();
    if (left <= 0ns) {
      const std::lock_guard counting(counting_);
      hopeless_.insert(sequence);
      log::warn("{:#x} bytes at {:#x}: submission {} may still write there; they are not waited for any longer",
                size.value, begin.value, sequence);
      break;
    }
    // Another answer may have become possible meanwhile.
    log_.wait_done(sequence, std::min<std::chrono::nanoseconds>(left, kSlice));
  }
  return done(false);
}

bool QueuedWrites::hopeless(uint64_t sequence) const {
  const std::lock_guard counting(counting_);
  return hopeless_.contains(sequence);
}

QueuedWritesCounts QueuedWrites::counts() const {
  const std::lock_guard counting(counting_);
  return counts_;
}

}  // namespace orrery::link
