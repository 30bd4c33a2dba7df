// The commit thread: what the service has executed is applied to the arena and published here, once and in order. This
// process outlives every service.
#include <algorithm>
#include <utility>

#include "guest-host/link/link.hpp"
#include "guest-host/link/part_as.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

// Deaths in one stretch from which on the next life is careful with it.
constexpr uint32_t kSuspicious = 2;

std::string recovery_text(const protocol::Ledger& ledger) {
  std::vector<double> all;  // ms
  for (uint64_t i = 0; i < std::min(ledger.recoveries.load(), protocol::kKeptRecoveries); ++i) {
    all.push_back(static_cast<double>(ledger.kept[i].retired_ns.load() - ledger.kept[i].died_ns.load()) / 1e6);
  }
  if (all.empty()) return "";
  std::ranges::sort(all);
  return fmt::format("; from death to the next retired stretch: median {:.1f} ms, longest {:.1f} ms",
                     all[all.size() / 2], all.back());
}

}  // namespace

void Link::serve_commits() {
  for (;;) {
    {
      const std::lock_guard state(state_);
      if (stopping_) return;
    }
    committer_.wait(100ms);
    while (commit_one()) {
    }
  }
}

bool Link::commit_one() {
  const std::lock_guard commit(commit_);
  auto stretch = committer_.take();
  if (!stretch) {
    const std::lock_guard receive(receive_);
    hang_up(stretch.error());
    return false;
  }
  if (!*stretch) return false;
  bool done = false;
  for (const auto& effect : (*stretch)->effects) {
    if (const auto* event = std::get_if<protocol::StretchEvent>(&effect)) {
      listener_->queue_event(event->queue, event->context_id);
    } else {
      log_.retire(std::get<protocol::StretchDone>(effect).sequence);
      done = true;
    }
  }
  if (done) {
    for (const auto& entry : log_.collect()) listener_->retired(entry.sequence, entry.kind);
  }
  // Last: when the service goes on, everybody has heard.
  committer_.retire(**stretch);
  if (died_ns_ != 0) note_recovery();
  return true;
}

void Link::note_recovery() {
  auto& ledger = part_as<protocol::Ledger>(segment_, PartName::ledger);
  const auto& status = part_as<protocol::ServiceStatus>(segment_, PartName::status);
  const uint64_t number = ledger.recoveries.load(std::memory_order_relaxed);
  auto& kept = ledger.kept[number % protocol::kKeptRecoveries];
  kept.died_ns.store(std::exchange(died_ns_, 0), std::memory_order_relaxed);
  kept.retired_ns.store(measure::now_ns(), std::memory_order_relaxed);
  kept.device_open_ns.store(status.device_open_ns.load(std::memory_order_relaxed), std::memory_order_relaxed);
  ledger.recoveries.store(number + 1, std::memory_order_relaxed);
}

void Link::judge_last_life(LifeEnd how) {
  if (how == LifeEnd::none) return;
  const std::lock_guard commit(commit_);
  if (how != LifeEnd::swapped) {
    part_as<protocol::Ledger>(segment_, PartName::ledger).deaths.fetch_add(1, std::memory_order_relaxed);
  }
  auto& slot = part_as<protocol::StretchSlot>(segment_, PartName::stretch);
  const uint32_t deaths = committer_.life_ended(how == LifeEnd::died);
  const uint64_t stretch = committer_.retired() + 1;
  const bool was_careful = slot.careful.load(std::memory_order_relaxed) == stretch;
  slot.careful.store(deaths >= kSuspicious ? stretch : 0, std::memory_order_relaxed);
  if (deaths < kSuspicious) return;
  const auto& status = part_as<protocol::ServiceStatus>(segment_, PartName::status);
  const uint64_t low = status.current_hash_low.load(std::memory_order_relaxed);
  const uint64_t high = status.current_hash_high.load(std::memory_order_relaxed);
  log::warn("{} lives of the GPU service ended in stretch {}; the next runs it piece by piece", deaths, stretch);
  // Only a careful life's last words name one piece alone.
  if (how != LifeEnd::died || !was_careful || (low | high) == 0) return;
  auto& quarantine = part_as<protocol::Quarantine>(segment_, PartName::quarantine);
  const uint32_t count = quarantine.count.load(std::memory_order_relaxed);
  if (count >= protocol::kMostQuarantined) return;
  quarantine.programs[count].low.store(low, std::memory_order_relaxed);
  quarantine.programs[count].high.store(high, std::memory_order_relaxed);
  quarantine.count.store(count + 1, std::memory_order_release);
  const uint64_t address = status.current_program.load(std::memory_order_relaxed);
  fmt::print(
      stderr,
      "[guest] quarantined: program {:#x} (hash {:016x}{:016x}, queue {}, dword {}) has ended {} lives of the GPU "
      "service; it is not run any more\n",
      address, high, low, status.current_queue.load(), status.current_packet.load(), deaths);
}

void Link::say_ledger(size_t unfinished) {
  // An entry counts as retired for others before the ledger has it.
  const std::lock_guard commit(commit_);
  const auto& ledger = part_as<const protocol::Ledger>(segment_, PartName::ledger);
  const auto sum = [](const protocol::StretchCounts& counts) {
    return counts.first_time.load() + counts.replayed.load() + counts.quarantined.load();
  };
  const uint64_t submitted = log_.submitted();
  const std::string text = fmt::format(
      "{} submitted: {} retired first time, {} after replay, {} quarantined, {} unfinished; {} stretches ({} "
      "first time, {} after replay, {} quarantined; {} stored directly, {} through the redo memory)",
      submitted, ledger.entries.first_time.load(), ledger.entries.replayed.load(), ledger.entries.quarantined.load(),
      unfinished, sum(ledger.stretches), ledger.stretches.first_time.load(), ledger.stretches.replayed.load(),
      ledger.stretches.quarantined.load(), ledger.direct.load(), ledger.redone.load());
  if (submitted == 0) return;
  if (sum(ledger.entries) + unfinished != submitted) {
    fmt::print(stderr, "[guest] the ledger does not add up: {}\n", text);
  } else if (ledger.deaths.load() != 0) {
    fmt::print(stderr, "[guest] the GPU service died {} time(s); {}{}\n", ledger.deaths.load(), text,
               recovery_text(ledger));
  } else {
    fmt::print(stderr, "[guest] {}\n", text);
  }
}

}  // namespace orrery::link
