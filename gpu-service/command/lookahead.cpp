#include "gpu-service/command/lookahead.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu-service/command/machine.hpp"

namespace orrery::command {
namespace {

using dispatch::Refusal;

class SilentListener final : public Listener {
 public:
  void refused(const Refusal& refusal) override {
    // Given-up streams are the one refusal that leaves packets out.
    (void)refusal;
  }
  void retired(uint64_t) override {}
  void queue_event(uint32_t, uint32_t) override {}
};

}  // namespace

// One submission's run: the executor and the memory that its packets see.
class Lookahead::Run final : public dispatch::Executor, public AheadOfTime {
 public:
  Run(Lookahead& owner, Forecast& forecast) : owner_(owner), forecast_(forecast) {}

  // --- Executor: noted, not done
  std::vector<Refusal> dispatch(const dispatch::DispatchState& state) override {
    note({ForecastStep::Kind::dispatch, {}, static_cast<uint32_t>(forecast_.dispatches.size())});
    forecast_.dispatches.push_back(state);
    return {};
  }
  // Its shaders may store anywhere, and its target is not worked out here.
  std::vector<Refusal> draw(const draw::DrawState&) override {
    note_write({0}, {uint64_t{1} << 40}, false);
    return {};
  }
  std::vector<Refusal> fill(GuestAddress destination, Bytes size, uint32_t) override {
    note_write(destination, size, false);
    return {};
  }
  std::vector<Refusal> copy(GuestAddress destination, GuestAddress, Bytes size) override {
    note_write(destination, size, false);
    return {};
  }
  Result<void> acquire() override { return {}; }
  Result<std::vector<Refusal>> finish() override { return std::vector<Refusal>{}; }

  // --- Memory
  bool read(GuestAddress address, std::span<std::byte> out) override {
    if (!owner_.memory_.read(address, out)) return false;
    forecast_.reads = true;
    note({ForecastStep::Kind::read, {address, {out.size()}}});
    // What the queue's packets before it write is known, dword by dword.
    const uint64_t end = address.value + out.size();
    for (auto at = owner_.planned_.lower_bound(address.value); at != owner_.planned_.end() && at->first < end; ++at) {
      if (at->first + 4 > end || at->second.queue != forecast_.queue) continue;
      std::memcpy(out.data() + (at->first - address.value), &at->second.value, 4);
    }
    return true;
  }
  bool write(GuestAddress address, std::span<const std::byte> bytes, bool known) override {
    if (!owner_.memory_.mapped(address, {bytes.size()})) return false;
    known = known && address.value % 4 == 0 && bytes.size() % 4 == 0 &&
            owner_.planned_.size() + bytes.size() / 4 <= kMostPlanned;
    note_write(address, {bytes.size()}, known);
    for (size_t i = 0; known && i < bytes.size(); i += 4) {
      Planned planned{0, forecast_.queue, forecast_.sequence, !forecast_.wait.empty()};
      std::memcpy(&planned.value, bytes.data() + i, 4);
      owner_.planned_.emplace(address.value + i, planned);
    }
    return true;
  }
  void unknown(std::string why) override {
    if (forecast_.unknown.empty()) forecast_.unknown = std::move(why);
  }

  // Only the CPU ends a wait whose label neither holds the value now nor is written by packets that do not wait for the
  // CPU themselves.
  void wait(const Wait& wait) {
    if (!forecast_.wait.empty() || satisfied(wait)) return;
    behind_cpu(describe(wait));
  }
  void behind_cpu(std::string why) {
    forecast_.wait = std::move(why);
    forecast_.behind_cpu = forecast_.steps.size();
  }

 private:
  bool satisfied(const Wait& wait) const {
    uint64_t now = 0;
    auto bytes = std::as_writable_bytes(std::span(&now, 1)).first(wait.bytes);
    if (owner_.memory_.read(wait.address, bytes) && compare(wait.compare, now & wait.mask, wait.reference)) return true;
    const auto [first, last] = owner_.planned_.equal_range(wait.address.value);
    return std::any_of(first, last, [&](const auto& low) {
      if (low.second.behind_cpu) return false;
      if (wait.bytes == 4) return compare(wait.compare, low.second.value & wait.mask, wait.reference);
      const auto [upper, end] = owner_.planned_.equal_range(wait.address.value + 4);
      return std::any_of(upper, end, [&](const auto& high) {
        const uint64_t value = low.second.value | uint64_t{high.second.value} << 32;
        return high.second.sequence == low.second.sequence && compare(wait.compare, value & wait.mask, wait.reference);
      });
    });
  }
  void note(const ForecastStep& step) {
    if (forecast_.steps.size() >= kMostSteps) return unknown("it does more than can be followed");
    forecast_.steps.push_back(step);
  }
  void note_write(GuestAddress address, Bytes size, bool known) {
    auto& steps = forecast_.steps;
    // Labels and fills one behind the other are one span.
    if (!steps.empty() && steps.back().kind == ForecastStep::Kind::write && steps.back().known == known) {
      memory::GuestSpan& last = steps.back().span;
      if (last.begin + last.size == address) {
        last.size = last.size + size;
        return;
      }
    }
    note({ForecastStep::Kind::write, {address, size}, 0, known});
  }

  Lookahead& owner_;
  Forecast& forecast_;
};

Lookahead::Lookahead(memory::GuestMemory memory) : memory_(std::move(memory)) {}
Lookahead::~Lookahead() = default;

const Forecast& Lookahead::take(Submission submission) {
  Forecast& forecast = forecasts_[submission.sequence];
  forecast = {};
  forecast.sequence = submission.sequence;
  forecast.queue = submission.queue;
  Run run(*this, forecast);
  if (const auto stuck = stuck_.find(submission.queue); stuck != stuck_.end()) run.behind_cpu(stuck->second);
  if (const auto lost = lost_.find(submission.queue); lost != lost_.end()) run.unknown(lost->second);
  SilentListener listener;
  Machine machine{{.memory = memory_, .executor = run, .listener = listener}, &run};
  Queue queue;
  queue.id = submission.queue;
  queue.banks = registers_[submission.queue];
  queue.submissions.push_back(std::move(submission));
  while (forecast.unknown.empty()) {
    auto goes_on = advance(machine, queue);
    if (!goes_on) {
      run.unknown(goes_on.error().describe());
      break;
    }
    if (queue.wait) run.wait(*std::exchange(queue.wait, std::nullopt));
    if (!*goes_on) break;
  }
  forecast.after = queue.banks;
  registers_[forecast.queue] = std::move(queue.banks);
  if (!forecast.wait.empty()) stuck_.emplace(forecast.queue, forecast.wait);
  if (!forecast.unknown.empty()) {
    lost_.emplace(forecast.queue, fmt::format("behind submission {}: {}", forecast.sequence, forecast.unknown));
  }
  return forecast;
}

void Lookahead::drop(uint64_t sequence) {
  const auto found = forecasts_.find(sequence);
  if (found == forecasts_.end()) return;
  const uint32_t queue = found->second.queue;
  forecasts_.erase(found);
  std::erase_if(planned_, [&](const auto& entry) { return entry.second.sequence == sequence; });
  // The queue has passed its waits once nothing of it is left.
  const bool more = std::ranges::any_of(forecasts_, [&](const auto& entry) { return entry.second.queue == queue; });
  if (!more) stuck_.erase(queue);
}

void Lookahead::restart(uint32_t queue, RegisterFile registers) {
  std::vector<uint64_t> wrong;
  for (const auto& [sequence, forecast] : forecasts_) {
    if (forecast.queue == queue) wrong.push_back(sequence);
  }
  for (const uint64_t sequence : wrong) drop(sequence);
  stuck_.erase(queue);
  lost_.erase(queue);
  registers_[queue] = std::move(registers);
}

}  // namespace orrery::command
