// Ranges of the arena that changed without the title's windows being written: the guest process reports them before it
// publishes what depends on them (a map, a submission); the service takes them at its acquire points.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "protocol/segment_layout.hpp"
#include "shared/quantity.hpp"

namespace orrery::protocol {

// One thread at a time: the owner locks.
class ReportedWritesWriter {
 public:
  explicit ReportedWritesWriter(std::span<std::byte> memory);
  void report(ReportKind kind, ArenaOffset begin, Bytes size);

 private:
  ReportedWrites* shared_;
};

struct ReportedRange {
  ReportKind kind = ReportKind::changed;
  ArenaOffset begin, end;
  friend bool operator==(const ReportedRange&, const ReportedRange&) = default;
};

class ReportedWritesReader {
 public:
  // Begins with what is reported from now on.
  explicit ReportedWritesReader(std::span<std::byte> memory);
  // Appends what was reported since the last call. False: some reports were overtaken, so that anything may have
  // changed and been discarded. Ranges are as the other process wrote them: not checked.
  bool take(std::vector<ReportedRange>& ranges);

 private:
  const ReportedWrites* shared_;
  uint64_t taken_;
};

}  // namespace orrery::protocol
