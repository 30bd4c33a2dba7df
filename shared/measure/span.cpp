#include "shared/measure/span.hpp"

#include <pthread.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>

namespace orrery::measure {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

struct Attached {
  std::atomic<Region*> region{nullptr};
  std::atomic<uint32_t> process{0}, life{0};
  std::atomic<uint32_t> generation{1};  // of attachments: a thread's slot of an earlier one means nothing
};
constinit Attached attached;

struct Mine {
  Slot* slot = nullptr;
  Region* region = nullptr;
  Span* innermost = nullptr;
  uint32_t generation = 0;
  bool shared = false;  // the slot of threads that found none: several writers, so nothing of one thread is kept in it
};
constinit thread_local Mine mine;

std::span<Slot> slots_of(Region& region, Process process) {
  return std::span(region.slots).subspan(static_cast<size_t>(process) * kSlotsPerProcess, kSlotsPerProcess);
}

// Gives the slot back when the thread ends; what it counted stays and is added to by its next owner.
struct Release {
  ~Release() {
    const uint32_t generation = attached.generation.load();
    if (mine.slot != nullptr && mine.generation == generation && !mine.shared) {
      mine.slot->depth.store(0, kRelaxed);
      mine.slot->thread.store(0, std::memory_order_release);
    }
    mine = {};
    mine.generation = generation;  // spans in later destructors of the thread measure nothing
  }
  bool armed = false;
};
thread_local Release release;

void name_slot(Slot& slot) {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  for (size_t i = 0; i < slot.thread_name.size(); ++i) {
    uint64_t word = 0;
    std::memcpy(&word, name.data() + i * sizeof word, sizeof word);
    slot.thread_name[i].store(word, kRelaxed);
  }
}

void claim(uint32_t generation) {
  mine = {.innermost = mine.innermost, .generation = generation};
  Region* const region = attached.region.load(std::memory_order_acquire);
  if (region == nullptr) return;
  mine.region = region;
  const auto slots = slots_of(*region, static_cast<Process>(attached.process.load(kRelaxed)));
  const auto thread = static_cast<uint32_t>(::gettid());
  for (Slot& slot : slots.first(kSlotsPerProcess - 1)) {
    uint32_t free = 0;
    if (!slot.thread.compare_exchange_strong(free, thread, std::memory_order_acq_rel)) continue;
    slot.depth.store(0, kRelaxed);
    slot.life.store(attached.life.load(kRelaxed), kRelaxed);
    name_slot(slot);
    slot.used.store(1, std::memory_order_release);
    mine.slot = &slot;
    release.armed = true;  // makes it, so that it is destroyed when the thread ends
    return;
  }
  slots.back().used.store(1, kRelaxed);
  mine.slot = &slots.back();
  mine.shared = true;
}

Slot* my_slot() {
  const uint32_t generation = attached.generation.load(std::memory_order_acquire);
  if (mine.generation != generation) [[unlikely]]
    claim(generation);
  return mine.slot;
}

size_t index_of(const Slot& slot) { return static_cast<size_t>(&slot - mine.region->slots.data()); }

void add(std::atomic<uint64_t>& word, uint64_t amount) {
  if (mine.shared) {
    word.fetch_add(amount, kRelaxed);
  } else {
    word.store(word.load(kRelaxed) + amount, kRelaxed);  // the only writer: no locked instruction
  }
}

void raise(std::atomic<uint64_t>& word, uint64_t value) {
  uint64_t known = word.load(kRelaxed);
  if (!mine.shared) {
    if (value > known) word.store(value, kRelaxed);
    return;
  }
  while (value > known && !word.compare_exchange_weak(known, value, kRelaxed)) {
  }
}

void write_event(Slot& slot, SpanName name, uint64_t start, uint64_t duration, uint64_t detail, Track track) {
  const uint64_t index = slot.events.load(kRelaxed);
  Event& event = mine.region->events[index_of(slot)][index % kEventsPerSlot];
  const uint32_t number = track.kind == TrackKind::thread ? slot.thread.load(kRelaxed) : track.number;
  // Whoever reads one of these in an earlier round's place sees how far that round has come too.
  event.start_ns.store(start, std::memory_order_release);
  event.duration_ns.store(duration, std::memory_order_release);
  event.detail.store(detail, std::memory_order_release);
  event.what.store(pack({name, track.kind, static_cast<uint16_t>(slot.life.load(kRelaxed)), number}),
                   std::memory_order_release);
  slot.events.store(index + 1, std::memory_order_release);
}

void tally(Slot& slot, SpanName name, uint64_t own) {
  const auto index = static_cast<size_t>(name);
  Totals& totals = slot.totals[index];
  add(totals.count, 1);
  add(totals.total_ns, own);
  raise(totals.largest_ns, own);
  add(mine.region->histograms[index_of(slot)][index][bucket_of(own)], 1);
}

// For trying out whether a comparison finds what it should: ORRERY_SLOW="NAME=PERCENT" makes each span of that name so
// much longer, by work of the processor.
struct Slowed {
  SpanName name{};
  uint32_t percent = 0;
};
constinit Slowed slowed;

Slowed asked_to_slow() {
  const char* const text = std::getenv("ORRERY_SLOW");
  if (text == nullptr) return {};
  const std::string_view asked = text, name = asked.substr(0, asked.find('='));
  const auto found = std::ranges::find(kSpanFacts, name, &SpanFact::name);
  if (found == kSpanFacts.end() || name.size() == asked.size()) return {};
  return {static_cast<SpanName>(found - kSpanFacts.begin()),
          static_cast<uint32_t>(std::strtoul(text + name.size() + 1, nullptr, 10))};
}

void slow_down(uint64_t start) {
  const uint64_t now = now_ns(), until = now + (now - start) * slowed.percent / 100;
  while (now_ns() < until) {
  }
}

bool traced() { return mine.region->tracing.load(kRelaxed) != 0 && !mine.shared; }

}  // namespace

uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void format(Region& region) {
  const auto write_name = [](std::array<char, kNameBytes>& to, std::string_view name) {
    std::memcpy(to.data(), name.data(), std::min(name.size(), kNameBytes - 1));
  };
  for (size_t i = 0; i < kSpanFacts.size(); ++i) write_name(region.spans[i], kSpanFacts[i].name);
  for (size_t i = 0; i < kCounterNames.size(); ++i) write_name(region.counters[i], kCounterNames[i]);
  region.span_names.store(kSpanFacts.size(), kRelaxed);
  region.counter_names.store(kCounterNames.size(), kRelaxed);
  region.start_ns.store(now_ns(), kRelaxed);
  region.magic.store(kMagic, std::memory_order_release);
}

void set_title(Region& region, std::string_view title) {
  std::memcpy(region.title.data(), title.data(), std::min(title.size(), region.title.size() - 1));
}

void attach(Region& region, Process process, uint32_t life) {
  // Slots of a process that is gone: nobody of this one has claimed any.
  for (Slot& slot : slots_of(region, process)) {
    slot.depth.store(0, kRelaxed);
    slot.thread.store(0, std::memory_order_release);
  }
  slowed = asked_to_slow();
  attached.process.store(static_cast<uint32_t>(process), kRelaxed);
  attached.life.store(life, kRelaxed);
  attached.region.store(&region, std::memory_order_release);
  attached.generation.fetch_add(1, std::memory_order_acq_rel);
}

void detach() {
  attached.region.store(nullptr, std::memory_order_release);
  attached.generation.fetch_add(1, std::memory_order_acq_rel);
}

void record(SpanName name, uint64_t start_ns, uint64_t duration_ns, uint64_t detail, Track track) {
  Slot* const slot = my_slot();
  if (slot == nullptr) return;
  tally(*slot, name, duration_ns);
  if (traced()) write_event(*slot, name, start_ns, duration_ns, detail, track);
}

void count(Counter counter, uint64_t amount) {
  if (Slot* const slot = my_slot()) add(slot->counters[static_cast<size_t>(counter)], amount);
}

Span::Span(SpanName name, uint64_t detail) : slot_(my_slot()), detail_(detail), name_(name) {
  if (slot_ == nullptr) return;
  outer_ = std::exchange(mine.innermost, this);
  depth_ = outer_ != nullptr ? outer_->depth_ + 1 : 0;
  start_ns_ = now_ns();
  if (mine.shared) return;
  if (depth_ < kMostOpen) {
    OpenSpan& open = slot_->open[depth_];
    open.start_ns.store(start_ns_, kRelaxed);
    open.detail.store(detail, kRelaxed);
    open.name.store(static_cast<uint32_t>(name), kRelaxed);
  }
  slot_->depth.store(depth_ + 1, std::memory_order_release);
}

void Span::set_detail(uint64_t detail) {
  detail_ = detail;
  if (slot_ == nullptr || slot_ != my_slot() || mine.shared || depth_ >= kMostOpen) return;
  slot_->open[depth_].detail.store(detail, kRelaxed);
}

Slot* Span::close(uint64_t& whole_ns) {
  if (slot_ == nullptr) return nullptr;
  Slot* const slot = std::exchange(slot_, nullptr);
  whole_ns = now_ns() - start_ns_;
  mine.innermost = outer_;
  if (slot != my_slot()) return nullptr;  // of an earlier attachment, and perhaps unmapped
  if (!mine.shared) slot->depth.store(depth_, std::memory_order_release);
  if (outer_ != nullptr) outer_->lock_waits_ns_ += name_ == SpanName::lock_wait ? whole_ns : lock_waits_ns_;
  return slot;
}

void Span::discard() {
  uint64_t whole = 0;
  (void)close(whole);
}

void Span::end() {
  if (slowed.percent != 0 && slowed.name == name_ && slot_ != nullptr) slow_down(start_ns_);
  uint64_t whole = 0;
  Slot* const slot = close(whole);
  if (slot == nullptr) return;
  tally(*slot, name_, whole - std::min(whole, lock_waits_ns_));
  if (traced()) write_event(*slot, name_, start_ns_, whole, detail_, {});
}

}  // namespace orrery::measure
