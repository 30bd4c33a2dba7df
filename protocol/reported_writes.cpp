#include "protocol/reported_writes.hpp"

namespace orrery::protocol {

ReportedWritesWriter::ReportedWritesWriter(std::span<std::byte> memory)
    : shared_(reinterpret_cast<ReportedWrites*>(memory.data())) {}

void ReportedWritesWriter::report(ReportKind kind, ArenaOffset begin, Bytes size) {
  const uint64_t count = shared_->count.load(std::memory_order_relaxed);
  ReportedWrite& slot = shared_->ring[count % kReportedWrites];
  // Whoever reads one of these in an earlier round's place sees the count of that round too.
  slot.begin.store(begin.value, std::memory_order_release);
  slot.end.store((begin + size).value, std::memory_order_release);
  slot.kind.store(static_cast<uint32_t>(kind), std::memory_order_release);
  shared_->count.store(count + 1, std::memory_order_release);
}

ReportedWritesReader::ReportedWritesReader(std::span<std::byte> memory)
    : shared_(reinterpret_cast<const ReportedWrites*>(memory.data())),
      taken_(shared_->count.load(std::memory_order_acquire)) {}

bool ReportedWritesReader::take(std::vector<ReportedRange>& ranges) {
  const uint64_t count = shared_->count.load(std::memory_order_acquire);
  const uint64_t first = std::exchange(taken_, count);
  // A count that went back is another process's nonsense; as good as lost.
  if (count < first || count - first >= kReportedWrites) return false;
  for (uint64_t n = first; n < count; ++n) {
    const ReportedWrite& slot = shared_->ring[n % kReportedWrites];
    ranges.push_back({static_cast<ReportKind>(slot.kind.load(std::memory_order_acquire)),
                      {slot.begin.load(std::memory_order_acquire)},
                      {slot.end.load(std::memory_order_acquire)}});
  }
  // The writer may have come round while we copied; it fills a slot before it counts it.
  return shared_->count.load(std::memory_order_relaxed) - first < kReportedWrites;
}

}  // namespace orrery::protocol
