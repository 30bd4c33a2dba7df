#include "protocol/stretch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "shared/differing_bytes.hpp"
#include "shared/futex.hpp"
#include "shared/injection.hpp"

namespace orrery::protocol {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kPage = 4096, kMaskBytes = kPage / 8;
// An unaligned page costs a run's header per change; from so many runs on a mask is smaller.
constexpr size_t kMostRuns = 48;
constexpr uint64_t kRecordSlack = 256ull << 20;  // labels, WRITE_DATA and what the CPU copies for a stream
// Far more than the packets of one submission can publish.
constexpr size_t kMostEffects = 1 << 20;
// Looks before it sleeps: committing a label takes microseconds.
constexpr int kSpins = 200;

struct ItemHead {
  uint32_t kind, reserved;
  uint64_t a, b, size;  // bytes of payload, which is padded to 8
};

uint64_t record_room(uint64_t arena) { return align_up(arena + arena / 2 + kRecordSlack, kPage); }

}  // namespace

Bytes redo_memory_size(Bytes arena) {
  return Bytes{record_room(arena.value) + uint64_t{kMaxQueues} * 2 * kFetchedBytes};
}

StretchWriter::StretchWriter(StretchSlot& slot, std::span<std::byte> redo, Bytes arena)
    : slot_(slot), redo_(redo), capacity_(record_room(arena.value)) {
  number_ = slot_.retired.load(std::memory_order_acquire) + 1;
}

void StretchWriter::begin() {
  if (begun_) return;
  begun_ = true;
  slot_.begun.store(number_, std::memory_order_release);
  injection::point("begun");
}

std::byte* StretchWriter::room(uint64_t bytes) {
  if (bytes > capacity_ - used_) return nullptr;
  std::byte* at = redo_.data() + used_;
  used_ += bytes;
  return at;
}

Result<void> StretchWriter::item(StretchItem kind, uint64_t a, uint64_t b, std::span<const std::byte> payload) {
  const ItemHead head{static_cast<uint32_t>(kind), 0, a, b, payload.size()};
  std::byte* at = room(sizeof head + align_up(payload.size(), 8));
  if (at == nullptr) return fail(ExitCode::internal, "a stretch changes more than the redo memory holds");
  std::memcpy(at, &head, sizeof head);
  if (!payload.empty()) std::memcpy(at + sizeof head, payload.data(), payload.size());
  return {};
}

Result<void> StretchWriter::bytes(ArenaOffset to, std::span<const std::byte> bytes) {
  return item(StretchItem::bytes, to.value, 0, bytes);
}

Result<void> StretchWriter::changed(ArenaOffset page, std::span<const std::byte> now, std::span<const std::byte> twin) {
  std::array<uint64_t, kPage / 64> differ;
  uint64_t before = 0;  // the bit before the word's first
  size_t runs = 0;
  for (size_t word = 0; word < differ.size(); ++word) {
    differ[word] = differing_bytes(now.data() + word * 64, twin.data() + word * 64);
    runs += static_cast<size_t>(std::popcount(differ[word] & ~(differ[word] << 1 | before)));
    before = differ[word] >> 63;
  }
  if (runs > kMostRuns) {
    std::array<std::byte, kMaskBytes + kPage> masked;
    std::memcpy(masked.data(), differ.data(), kMaskBytes);
    std::memcpy(masked.data() + kMaskBytes, now.data(), kPage);
    return item(StretchItem::masked_page, page.value, 0, masked);
  }
  const auto differs = [&](uint32_t at) { return (differ[at / 64] >> (at % 64) & 1) != 0; };
  for (uint32_t at = 0; at < kPage;) {
    if (differ[at / 64] >> (at % 64) == 0) {
      at = (at / 64 + 1) * 64;
    } else if (!differs(at)) {
      at += static_cast<uint32_t>(std::countr_zero(differ[at / 64] >> (at % 64)));
    } else {
      uint32_t end = at + 1;
      while (end < kPage && differs(end)) ++end;
      ORRERY_TRY(bytes({page.value + at}, now.subspan(at, end - at)));
      at = end;
    }
  }
  return {};
}

Result<void> StretchWriter::queue_event(uint32_t queue, uint32_t context_id) {
  return item(StretchItem::event, queue, context_id, {});
}

Result<void> StretchWriter::done(uint64_t sequence) { return item(StretchItem::done, sequence, 0, {}); }

Result<void> StretchWriter::commit(const std::function<bool()>& gone) {
  begin();
  slot_.record_bytes.store(used_, std::memory_order_relaxed);
  slot_.sequence.store(sequence_, std::memory_order_relaxed);
  slot_.flags.store(flags_, std::memory_order_relaxed);
  injection::point("before-executed");
  slot_.executed.store(number_, std::memory_order_release);
  injection::point("executed");
  slot_.executed_futex.fetch_add(1, std::memory_order_seq_cst);
  if (slot_.committer_sleeps.load(std::memory_order_seq_cst) != 0) futex_wake(slot_.executed_futex);
  for (int spin = 0;; ++spin) {
    const uint32_t seen = slot_.retired_futex.load(std::memory_order_acquire);
    if (slot_.retired.load(std::memory_order_acquire) >= number_) break;
    if (spin < kSpins) {
      spin_pause();
      continue;
    }
    if (gone()) return fail(ExitCode::peer_gone, "the guest process is gone");
    slot_.service_sleeps.store(1, std::memory_order_seq_cst);
    if (slot_.retired.load(std::memory_order_seq_cst) < number_) futex_wait(slot_.retired_futex, seen, 50ms);
    slot_.service_sleeps.store(0, std::memory_order_relaxed);
  }
  injection::point("committed");
  ++number_;
  used_ = 0;
  flags_ = 0;
  begun_ = false;
  return {};
}

std::span<std::byte> StretchWriter::fetched(uint32_t queue, uint32_t slot) const {
  return redo_.subspan(capacity_ + (uint64_t{queue} * 2 + slot) * kFetchedBytes, kFetchedBytes);
}

StretchCommitter::StretchCommitter(StretchSlot& slot, Ledger& ledger, std::span<std::byte> redo,
                                   std::span<std::byte> arena)
    : slot_(slot), ledger_(ledger), redo_(redo), arena_(arena), capacity_(record_room(arena.size())) {}

namespace {

// A label must be seen whole.
void store(std::byte* to, const std::byte* from, uint64_t size) {
  const auto whole = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof value);
    std::atomic_ref(*reinterpret_cast<T*>(to)).store(value, std::memory_order_release);
  };
  const auto address = reinterpret_cast<uintptr_t>(to);
  if (size == 4 && address % 4 == 0) return whole(uint32_t{});
  if (size == 8 && address % 8 == 0) return whole(uint64_t{});
  std::memcpy(to, from, size);
}

uint64_t store_masked(std::byte* to, const std::byte* from) {
  uint64_t stored = 0;
  for (uint64_t at = 0; at < kPage; at += 64) {
    uint64_t mask = 0;
    std::memcpy(&mask, from + at / 8, sizeof mask);
    const std::byte* const bytes = from + kMaskBytes + at;
    stored += static_cast<uint64_t>(std::popcount(mask));
    while (mask != 0) {
      // Runs of bytes: what the title's CPU writes between them stays.
      const int begin = std::countr_zero(mask), size = std::countr_one(mask >> begin);
      std::memcpy(to + at + begin, bytes + begin, static_cast<size_t>(size));
      mask = begin + size == 64 ? 0 : mask >> (begin + size) << (begin + size);
    }
  }
  return stored;
}

}  // namespace

void StretchCommitter::wait(std::chrono::milliseconds limit) {
  const uint32_t seen = slot_.executed_futex.load(std::memory_order_acquire);
  slot_.committer_sleeps.store(1, std::memory_order_seq_cst);
  if (slot_.executed.load(std::memory_order_seq_cst) != retired_ + 1) futex_wait(slot_.executed_futex, seen, limit);
  slot_.committer_sleeps.store(0, std::memory_order_relaxed);
}

// Calls visit(head, payload) for each item; false when the record is cut off or visit says so.
template <class Visit>
static bool visit_items(std::span<const std::byte> record, Visit&& visit) {
  while (!record.empty()) {
    ItemHead head{};
    if (record.size() < sizeof head) return false;
    std::memcpy(&head, record.data(), sizeof head);
    record = record.subspan(sizeof head);
    if (head.size > record.size() || align_up(head.size, 8) > record.size()) return false;
    if (!visit(head, record.data())) return false;
    record = record.subspan(align_up(head.size, 8));
  }
  return true;
}

static bool fits(const ItemHead& head, uint64_t arena) {
  switch (static_cast<StretchItem>(head.kind)) {
    case StretchItem::bytes:
      return head.size <= arena && head.a <= arena - head.size;
    case StretchItem::masked_page:
      return head.size == kMaskBytes + kPage && kPage <= arena && head.a <= arena - kPage;
    case StretchItem::event:
    case StretchItem::done:
      return true;
  }
  return false;
}

Result<std::optional<RetiredStretch>> StretchCommitter::take() {
  const uint64_t next = retired_ + 1;
  if (slot_.executed.load(std::memory_order_acquire) != next) return std::nullopt;
  const uint64_t size = slot_.record_bytes.load(std::memory_order_relaxed);
  const uint32_t flags = slot_.flags.load(std::memory_order_relaxed);
  // Looked at in full before anything is stored.
  const auto record = redo_.first(std::min(size, capacity_));
  size_t effects = 0;
  if (size > capacity_ || !visit_items(record, [&](const ItemHead& head, const std::byte*) {
        effects += head.kind >= static_cast<uint32_t>(StretchItem::event) ? 1 : 0;
        return fits(head, arena_.size()) && effects <= kMostEffects;
      })) {
    slot_.executed.store(retired_, std::memory_order_relaxed);
    return fail(ExitCode::protocol_mismatch, "the record of stretch {} ({} bytes) makes no sense", next, size);
  }
  RetiredStretch stretch;
  stretch.number = next;
  stretch.replayed = died_in_ == next;
  stretch.quarantined = (flags & kStretchQuarantined) != 0;
  stretch.direct = (flags & kStretchDirect) != 0;
  stretch.sequence = slot_.sequence.load(std::memory_order_relaxed);
  // The service could change the record under our eyes: every item is looked at again.
  visit_items(record, [&](const ItemHead& head, const std::byte* payload) {
    if (!fits(head, arena_.size()) || stretch.effects.size() > kMostEffects) return false;
    switch (static_cast<StretchItem>(head.kind)) {
      case StretchItem::bytes:
        store(arena_.data() + head.a, payload, head.size);
        stretch.bytes += head.size;
        break;
      case StretchItem::masked_page:
        stretch.bytes += store_masked(arena_.data() + head.a, payload);
        break;
      case StretchItem::event:
        stretch.effects.push_back(StretchEvent{static_cast<uint32_t>(head.a), static_cast<uint32_t>(head.b)});
        break;
      case StretchItem::done:
        stretch.effects.push_back(StretchDone{head.a});
        break;
    }
    return true;
  });
  return stretch;
}

void StretchCommitter::count(StretchCounts& counts, Fate fate) {
  auto& counter = fate == Fate::first_time ? counts.first_time
                  : fate == Fate::replayed ? counts.replayed
                                           : counts.quarantined;
  counter.fetch_add(1, std::memory_order_relaxed);
}

void StretchCommitter::retire(const RetiredStretch& stretch) {
  const Fate fate = stretch.quarantined ? Fate::quarantined : stretch.replayed ? Fate::replayed : Fate::first_time;
  count(ledger_.stretches, fate);
  if (stretch.bytes != 0) ledger_.redone.fetch_add(1, std::memory_order_relaxed);
  if (stretch.direct) ledger_.direct.fetch_add(1, std::memory_order_relaxed);
  ledger_.applied_bytes.fetch_add(stretch.bytes, std::memory_order_relaxed);
  // A service that names entries which never end must not fill this process.
  if (stretch.sequence != 0 && (entries_.size() < 2 * kJournalEntries || entries_.contains(stretch.sequence))) {
    Fate& worst = entries_[stretch.sequence];
    worst = std::max(worst, fate);
  }
  for (const StretchEffect& effect : stretch.effects) {
    const auto* done = std::get_if<StretchDone>(&effect);
    if (done == nullptr) continue;
    const auto entry = entries_.find(done->sequence);
    count(ledger_.entries, entry == entries_.end() ? fate : entry->second);
    if (entry != entries_.end()) entries_.erase(entry);
  }
  retired_ = stretch.number;
  slot_.retired.store(retired_, std::memory_order_seq_cst);
  slot_.retired_futex.fetch_add(1, std::memory_order_seq_cst);
  if (slot_.service_sleeps.load(std::memory_order_seq_cst) != 0) futex_wake(slot_.retired_futex);
}

uint32_t StretchCommitter::life_ended(bool of_itself) {
  // What the dead life left in its words must not hold the next one.
  slot_.service_sleeps.store(0, std::memory_order_relaxed);
  const uint64_t begun = slot_.begun.load(std::memory_order_acquire);
  // A life that dies before it begins anything died of something else.
  slot_.begun.store(retired_, std::memory_order_relaxed);
  if (begun != retired_ + 1) return 0;
  if (died_in_ != begun) deaths_ = 0;
  died_in_ = begun;
  return of_itself ? ++deaths_ : deaths_;
}

}  // namespace orrery::protocol
