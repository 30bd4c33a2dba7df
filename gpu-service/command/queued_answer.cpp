#include "gpu-service/command/queued_answer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

namespace orrery::command {
namespace {

// Everything that was found so far; an order among queues is not known, within a queue it is.
struct Found {
  memory::GuestSpan span;
  uint64_t sequence = 0;
  uint32_t queue = 0;
  bool known = false;  // the bytes too, for the queue's own later packets
};

uint64_t end_of(const memory::GuestSpan& span) {
  return span.size.value > UINT64_MAX - span.begin.value ? UINT64_MAX : span.begin.value + span.size.value;
}
bool touch(const memory::GuestSpan& a, const memory::GuestSpan& b) {
  return a.begin.value < end_of(b) && b.begin.value < end_of(a);
}

// Ranges that grow together; asked in logarithmic time.
class Ranges {
 public:
  void add(const memory::GuestSpan& span) {
    uint64_t begin = span.begin.value, end = end_of(span);
    if (begin >= end) return;
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin() && std::prev(next)->second >= begin) --next;
    while (next != ends_.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = ends_.erase(next);
    }
    ends_.emplace(begin, end);
  }
  bool touch(const memory::GuestSpan& span) const {
    const auto next = ends_.lower_bound(end_of(span));
    return next != ends_.begin() && std::prev(next)->second > span.begin.value;
  }

 private:
  std::map<uint64_t, uint64_t> ends_;  // by begin
};

// Pairs of reads and writes that are compared one by one.
constexpr size_t kMostPairs = 1 << 22;

class Answering {
 public:
  Answering(dispatch::Executor& executor, const memory::GuestMemory& memory) : executor_(executor), memory_(memory) {}

  void add(const Forecast& forecast) {
    if (!forecast.unknown.empty()) unbounded(forecast, forecast.unknown);
    for (size_t i = 0; i < forecast.steps.size(); ++i) {
      const ForecastStep& step = forecast.steps[i];
      const bool behind_cpu = i >= forecast.behind_cpu;
      switch (step.kind) {
        case ForecastStep::Kind::write:
          add({step.span, forecast.sequence, forecast.queue, step.known});
          break;
        case ForecastStep::Kind::read:
          reads_.push_back({step.span, forecast.sequence, forecast.queue, found_.size()});
          if (behind_cpu) unbounded(forecast, "it reads commands behind a wait for the CPU: " + forecast.wait);
          break;
        case ForecastStep::Kind::dispatch:
          dispatch(forecast, forecast.dispatches[step.dispatch], behind_cpu);
          break;
      }
    }
  }

  QueuedAnswer answer() {
    // Commands that other work may write: no order says that it is done before or after.
    size_t pairs = 0;
    for (const Read& read : reads_) {
      if (!touched_.touch(read.span)) continue;
      pairs += found_.size();
      if (pairs > kMostPairs) {
        note(read.sequence, "it reads more commands that queued work may write than can be compared");
        break;
      }
      for (size_t i = 0; i < found_.size(); ++i) {
        const Found& write = found_[i];
        if (!touch(write.span, read.span)) continue;
        const bool own_later = write.queue == read.queue && i >= read.at;
        const bool looked_through = write.queue == read.queue && write.known;
        if (own_later || looked_through) continue;
        note(read.sequence,
             fmt::format("it reads commands at {:#x} that queued work may write", read.span.begin.value));
        break;
      }
    }
    if (sequence_ != 0) return {{}, std::move(why_), sequence_};
    auto spans = merged();
    if (spans.size() > kMostQueuedSpans) {
      uint64_t newest = 0;
      for (const auto& span : spans) newest = std::max(newest, span.sequence);
      return {{}, fmt::format("{} ranges", spans.size()), newest};
    }
    return {std::move(spans), {}, 0};
  }

 private:
  struct Read {
    memory::GuestSpan span;
    uint64_t sequence = 0;
    uint32_t queue = 0;
    size_t at = 0;  // what was found before it
  };

  void dispatch(const Forecast& forecast, const dispatch::DispatchState& state, bool behind_cpu) {
    auto writes = executor_.writes_of(
        state, memory_, [&](const memory::GuestSpan& span) { return behind_cpu || touched_.touch(span); });
    if (!writes.unbounded.empty()) {
      unbounded(forecast, fmt::format("program {:#x}: {}", state.program.value, writes.unbounded));
      return;
    }
    for (const auto& span : writes.spans) add({span, forecast.sequence, forecast.queue, false});
  }
  void add(const Found& found) {
    touched_.add(found.span);
    found_.push_back(found);
  }
  void unbounded(const Forecast& forecast, const std::string& why) {
    note(forecast.sequence, fmt::format("submission {}: {}", forecast.sequence, why));
  }
  void note(uint64_t sequence, std::string why) {
    if (sequence_ == 0) why_ = std::move(why);
    sequence_ = std::max(sequence_, sequence);
  }

  // Sorted, and apart: where two overlap or touch the newer submission counts for both.
  std::vector<QueuedSpan> merged() {
    std::erase_if(found_, [](const Found& f) { return f.span.size.value == 0; });
    std::ranges::sort(found_, {}, [](const Found& f) { return f.span.begin; });
    std::vector<QueuedSpan> spans;
    for (const Found& f : found_) {
      if (!spans.empty() && f.span.begin.value <= end_of(spans.back().span)) {
        QueuedSpan& last = spans.back();
        last.span.size.value = std::max(end_of(last.span), end_of(f.span)) - last.span.begin.value;
        last.sequence = std::max(last.sequence, f.sequence);
      } else {
        spans.push_back({f.span, f.sequence});
      }
    }
    return spans;
  }

  dispatch::Executor& executor_;
  const memory::GuestMemory& memory_;
  std::vector<Found> found_;
  Ranges touched_;  // the same, without order
  std::vector<Read> reads_;
  std::string why_;
  uint64_t sequence_ = 0;
};

}  // namespace

QueuedAnswer queued_writes(const Lookahead& lookahead, dispatch::Executor& executor, const memory::GuestMemory& memory,
                           uint64_t last) {
  Answering answering(executor, memory);
  for (const auto& [sequence, forecast] : lookahead.forecasts()) {
    if (last != 0 && sequence > last) break;
    answering.add(forecast);
  }
  return answering.answer();
}

}  // namespace orrery::command
