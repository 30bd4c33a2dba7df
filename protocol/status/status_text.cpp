#include "protocol/status/status_text.hpp"

#include <fmt/format.h>
#include <array>

#include "shared/measure/snapshot.hpp"
#include "shared/measure/span.hpp"

namespace orrery::protocol {
namespace {

uint64_t value(const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

std::string counts(const StretchCounts& c) {
  return fmt::format("{} first time, {} after replay, {} quarantined", value(c.first_time), value(c.replayed),
                     value(c.quarantined));
}

const char* words_of(uint32_t activity) {
  constexpr std::array kWords{"starting",
                              "idle",
                              "running packets",
                              "preparing a program",
                              "waiting for the device",
                              "waiting for a commit",
                              "showing a frame"};
  return activity < kWords.size() ? kWords[activity] : "unknown";
}

std::string ring_text(const RingHeader& ring) {
  const uint64_t written = ring.written.load(), read = ring.read.load();
  return fmt::format("{} of {} bytes", written >= read ? written - read : 0, ring.capacity);
}

}  // namespace

std::string status_text(const OutsideView& view) {
  const ServiceStatus& status = view.status();
  const Ledger& ledger = view.ledger();
  const StretchSlot& slot = view.stretch();
  std::string text = fmt::format("title {} (process {}): life {} of the GPU service, process {}; {} lives ended\n",
                                 view.title(), view.pid(), value(status.lives),
                                 status.process.load(std::memory_order_relaxed), value(ledger.deaths));
  text += fmt::format("  now: {}, heart-beat {}, stretch {} begun, {} executed, {} retired\n",
                      words_of(status.activity.load()), value(status.heartbeat), value(slot.begun),
                      value(slot.executed), value(slot.retired));
  text += fmt::format("  last: submission {}, queue {}, dword {}, program {:#x} (hash {:016x}{:016x})\n",
                      value(status.current_sequence), status.current_queue.load(), status.current_packet.load(),
                      value(status.current_program), value(status.current_hash_high), value(status.current_hash_low));
  text += fmt::format("  retired: {}\n", counts(ledger.entries));
  text +=
      fmt::format("  stretches: {}; {} stored directly, {} through the redo memory ({} bytes)\n",
                  counts(ledger.stretches), value(ledger.direct), value(ledger.redone), value(ledger.applied_bytes));
  text += fmt::format("  rings: {} to the service, {} from it\n", ring_text(view.to_service()),
                      ring_text(view.from_service()));
  text += fmt::format("  counted: {} dispatches, {} refusals, {} flips, {} escapes\n", value(status.dispatches),
                      value(status.refusals), value(status.flips), value(status.escapes));
  const Quarantine& quarantine = view.quarantine();
  for (uint32_t i = 0; i < std::min(quarantine.count.load(), kMostQuarantined); ++i) {
    text += fmt::format("  quarantined: program with hash {:016x}{:016x}\n", value(quarantine.programs[i].high),
                        value(quarantine.programs[i].low));
  }
  for (const std::string& line :
       measure::last_words(measure::open_spans(view.measures(), measure::Process::service, measure::now_ns()))) {
    text += fmt::format("  open: {}\n", line);
  }
  return text;
}

}  // namespace orrery::protocol
