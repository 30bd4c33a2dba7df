// What took how long, counted in the control segment: it survives the service and can be read without its help. Any
// thread of either process adds.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "protocol/segment_layout.hpp"

namespace orrery::protocol {

std::string_view name_of(SpanName span);

class Spans {
 public:
  explicit Spans(std::span<std::byte> memory) : counts_(reinterpret_cast<SpanCounts*>(memory.data())) {}
  void add(SpanName span, std::chrono::nanoseconds took);
  uint64_t count(SpanName span) const { return of(span).count.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds total(SpanName span) const;
  std::chrono::nanoseconds longest(SpanName span) const;
  // To within a tenth of itself; 0 when nothing was counted.
  std::chrono::nanoseconds median(SpanName span) const;
  // One line for each span that was counted: name, how often, in all, median, longest. Empty: none.
  std::string text() const;
  // {"harvest": {"count": 1, "total_ns": 2, "median_ns": 2, "longest_ns": 2}, ...}; those that were counted.
  std::string json() const;

 private:
  SpanCount& of(SpanName span) const { return counts_->spans[static_cast<size_t>(span)]; }
  SpanCounts* counts_;
};

// Counts its own life; does nothing without spans.
class SpanTimer {
 public:
  SpanTimer(Spans* spans, SpanName span) : spans_(spans), span_(span) {}
  ~SpanTimer() {
    if (spans_ != nullptr) spans_->add(span_, std::chrono::steady_clock::now() - begin_);
  }
  SpanTimer(const SpanTimer&) = delete;
  SpanTimer& operator=(const SpanTimer&) = delete;

 private:
  Spans* spans_;
  SpanName span_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace orrery::protocol
