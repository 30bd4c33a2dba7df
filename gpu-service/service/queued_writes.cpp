#include "gpu-service/service/queued_writes.hpp"

#include <chrono>
#include <utility>

#include "gpu-service/service/messages.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::service {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

// How long a thread sleeps before it looks whether it is to end.
constexpr auto kSlice = 20ms;
constexpr size_t kMostRetired = 4096;

}  // namespace

QueuedWrites::QueuedWrites(protocol::ControlSegmentView& segment, memory::GuestMemory memory,
                           dispatch::Executor& executor)
    : journal_(segment.part(PartName::journal), segment.part(PartName::journal_bytes)),
      questions_(segment.part(PartName::questions)),
      answers_(segment.part(PartName::answers)),
      executor_(executor),
      lookahead_(std::move(memory)) {}

QueuedWrites::~QueuedWrites() {
  {
    const measure::CountedLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void QueuedWrites::restore(uint32_t queue, const command::RegisterFile& registers) {
  lookahead_.restart(queue, registers);
}

void QueuedWrites::start() {
  ahead_ = std::jthread([this] { look_ahead(); });
  answering_ = std::jthread([this] { answer(); });
}

void QueuedWrites::submitted() {
  {
    const measure::CountedLock lock(mutex_);
    news_ = true;
  }
  changed_.notify_all();
}

void QueuedWrites::retired(uint32_t queue, uint64_t sequence, const command::RegisterFile& registers) {
  const measure::CountedLock lock(mutex_);
  // Nobody looks: what is forgotten counts as foreseen.
  if (retired_.size() >= kMostRetired) retired_.erase(retired_.begin());
  retired_.insert_or_assign(sequence, Retired{queue, registers});
}

std::optional<Error> QueuedWrites::error() const {
  const measure::CountedLock lock(mutex_);
  return error_;
}

void QueuedWrites::fail_with(Error error) {
  const measure::CountedLock lock(mutex_);
  if (!error_) error_ = std::move(error);
}

std::unique_lock<std::mutex> QueuedWrites::locked() {
  std::unique_lock lock(lookahead_mutex_, std::try_to_lock);
  if (lock.owns_lock()) return lock;
  const measure::Span waiting(measure::SpanName::lock_wait);
  lock.lock();
  return lock;
}

Result<void> QueuedWrites::take(uint64_t sequence) {
  auto entry = journal_.read(sequence);
  // It may have retired between two looks; what was copied then is of no use.
  if (!entry || !journal_.open(sequence)) return {};
  if (entry->kind != protocol::EntryKind::submission) return {};
  auto submission = command::parse_submission(*entry);
  // The main thread says so.
  if (!submission) return {};
  for (const auto& state : lookahead_.take(std::move(*submission)).dispatches) executor_.prepare(state);
  return {};
}

Result<void> QueuedWrites::catch_up() {
  ORRERY_TRY(lookahead_.memory().refresh());
  std::map<uint64_t, Retired> retired;
  {
    const measure::CountedLock lock(mutex_);
    retired = std::exchange(retired_, {});
  }
  std::vector<uint64_t> gone;
  for (const auto& [sequence, forecast] : lookahead_.forecasts()) {
    if (!journal_.open(sequence)) gone.push_back(sequence);
  }
  for (const uint64_t sequence : gone) {
    const auto truth = retired.find(sequence);
    const auto& forecast = lookahead_.forecasts().at(sequence);
    const uint32_t queue = forecast.queue;
    // What read nothing can't be wrong.
    const bool wrong = truth != retired.end() &&
                       (!forecast.unknown.empty() || (forecast.reads && !(truth->second.registers == forecast.after)));
    lookahead_.drop(sequence);
    if (!wrong) continue;
    // Something that it read was written meanwhile: those behind it are looked at again.
    counters_.wrong_forecasts.fetch_add(1, std::memory_order_relaxed);
    std::vector<uint64_t> again;
    for (const auto& [later, held] : lookahead_.forecasts()) {
      if (held.queue == queue) again.push_back(later);
    }
    lookahead_.restart(queue, truth->second.registers);
    for (const uint64_t later : again) ORRERY_TRY(take(later));
  }
  if (next_ == 0) {
    const auto open = journal_.open_entries();
    next_ = open.empty() ? journal_.newest() + 1 : open.front();
  }
  for (; journal_.reached(next_); ++next_) ORRERY_TRY(take(next_));
  return {};
}

void QueuedWrites::look_ahead() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return news_ || stopping_; });
      if (stopping_) return;
      news_ = false;
    }
    const auto lock = locked();
    if (auto caught = catch_up(); !caught) return fail_with(std::move(caught.error()));
  }
}

Result<std::vector<std::byte>> QueuedWrites::answer_to(std::span<const std::byte> question) {
  auto decoded = decode_from_guest(question);
  if (!decoded) return std::unexpected(std::move(decoded.error()));
  const auto* asked = std::get_if<QueuedWritesAsked>(&*decoded);
  if (asked == nullptr) return fail(ExitCode::protocol_mismatch, "the guest process asks what is no question");
  counters_.asks.fetch_add(1, std::memory_order_relaxed);
  const auto lock = locked();
  ORRERY_TRY(catch_up());
  const auto answer = command::queued_writes(lookahead_, executor_, lookahead_.memory(), asked->sequence);
  (answer.unbounded.empty() ? counters_.bounded : counters_.unbounded).fetch_add(1, std::memory_order_relaxed);
  return answer.unbounded.empty() ? encode_queued_writes(asked->ask, answer.spans)
                                  : encode_queued_writes_unbounded(asked->ask, answer.unbounded, answer.sequence);
}

void QueuedWrites::answer() {
  for (;;) {
    {
      const measure::CountedLock lock(mutex_);
      if (stopping_) return;
    }
    auto record = questions_.pop(kSlice);
    if (!record) return fail_with(std::move(record.error()));
    if (!*record) continue;
    auto answer = answer_to(**record);
    if (!answer) return fail_with(std::move(answer.error()));
    // Who asks waits for the answer, so there is room; a guest process that does not take answers gets none.
    if (!answers_.push(*answer, 100ms)) log::warn("the guest process does not take answers");
  }
}

}  // namespace orrery::service
