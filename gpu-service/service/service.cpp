#include "gpu-service/service/service.hpp"

#include <cstring>
#include <thread>

#include "gpu-service/service/messages.hpp"
#include "shared/injection.hpp"
#include "shared/log.hpp"
#include "shared/measure/span.hpp"

namespace orrery::service {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;

// After a shutdown: waits that nobody satisfies are given up after the first, everything else after the second (the
// launcher kills a service after 12 s).
constexpr auto kGraceForWaits = 1s, kGraceForWork = 8s;
constexpr auto kWaitReportEvery = 5s;
// A queue that waits is polled without sleeping long for so long after something moved.
constexpr auto kEagerFor = 2ms;
constexpr int kMessagesAtOnce = 64;

template <class T>
T& view(std::span<std::byte> part) {
  return *reinterpret_cast<T*>(part.data());
}

std::span<protocol::QueueCheckpoint> checkpoints_of(protocol::ControlSegmentView& segment) {
  const auto part = segment.part(PartName::checkpoints);
  return {reinterpret_cast<protocol::QueueCheckpoint*>(part.data()), part.size() / sizeof(protocol::QueueCheckpoint)};
}

}  // namespace

Service::Service(const ServiceParts& parts)
    : parts_(parts),
      status_(view<protocol::ServiceStatus>(parts.segment.part(PartName::status))),
      from_guest_(parts.segment.part(PartName::guest_to_service)),
      to_guest_(parts.segment.part(PartName::service_to_guest)),
      journal_(parts.segment.part(PartName::journal), parts.segment.part(PartName::journal_bytes)),
      feed_(journal_),
      processor_({parts.memory, parts.executor, *this, &status_, checkpoints_of(parts.segment), parts.logical_clock,
                  parts.exactly_once ? &parts.stretches : nullptr, parts.guest_gone}),
      queued_writes_(parts.segment, parts.memory.another(), parts.executor) {
  if (!parts.exactly_once) return;
  parts.memory.hand_stores_to(
      [this](ArenaOffset to, std::span<const std::byte> bytes) { return parts_.stretches.bytes(to, bytes); });
}

Result<void> Service::run() {
  status_.lives.store(parts_.life, std::memory_order_relaxed);
  auto ended = loop();
  // Whatever ends this life, what was refused is told with its last count.
  if (!ended && ended.error().code == ExitCode::protocol_mismatch) refused({"message", ended.error().describe()});
  for (const auto& entry : refusals_.untold()) {
    send(encode_refusal(entry.refusal.kind, entry.refusal.text, entry.count));
  }
  return ended;
}

std::string Service::queued_writes_text() const {
  const QueuedWritesCounters& c = queued_writes_.counters();
  return fmt::format("{} asks, {} bounded, {} unbounded, {} forecasts made again", c.asks.load(), c.bounded.load(),
                     c.unbounded.load(), c.wrong_forecasts.load());
}

Result<void> Service::loop() {
  ORRERY_TRY(parts_.memory.refresh());
  ORRERY_TRY(feed_.take_open());
  if (parts_.life > 1) {
    log::info("life {}: {} journal entries to run again", parts_.life, feed_.size());
    const uint64_t retired = parts_.stretches.number() - 1;
    for (uint32_t queue = 0; queue < protocol::kMaxQueues; ++queue) {
      processor_.restore(queue, retired);
      if (const auto* registers = processor_.registers(queue)) queued_writes_.restore(queue, *registers);
    }
  }
  queued_writes_.start();
  moved_ = waits_reported_ = Clock::now();
  for (;;) {
    status_.heartbeat.fetch_add(1, std::memory_order_relaxed);
    doing(protocol::Activity::packets);
    auto messages = take_messages(0ms);
    if (!messages) return std::unexpected(std::move(messages.error()));
    auto worked = work();
    if (!worked) return std::unexpected(std::move(worked.error()));
    poll_presenter();
    if (parts_.guest_gone() || peer_lost_) {
      if (shutdown_) return {};
      return fail(ExitCode::peer_gone, "the guest process is gone");
    }
    if (parts_.asked_to_end()) {
      log::info("asked to end by SIGTERM");
      injection::point("handover");
      // What was begun is finished, so that the next life starts with the next stretch.
      return processor_.end_stretch();
    }
    if (broken_) return std::unexpected(std::move(*broken_));
    if (auto broken = queued_writes_.error()) return std::unexpected(std::move(*broken));
    const auto now = Clock::now();
    if (*messages || *worked) {
      moved_ = now;
      continue;
    }
    // Behind all that this life has told: the guest process has heard it when it hears this.
    if (settle_ && !processor_.preparing()) send(encode_settled(*std::exchange(settle_, std::nullopt)));
    if (now - waits_reported_ > kWaitReportEvery) {
      waits_reported_ = now;
      report_waits(false);
    }
    if (shutdown_ && may_end()) return {};
    doing(protocol::Activity::idle);
    auto woken = take_messages(pause());
    if (!woken) return std::unexpected(std::move(woken.error()));
    if (*woken) moved_ = Clock::now();
  }
}

// How long to sleep when nothing is to be done. Waiting queues are polled: the CPU's write of a label wakes nobody.
std::chrono::milliseconds Service::pause() {
  if (processor_.idle()) return parts_.window ? 8ms : 100ms;
  if (Clock::now() - moved_ < kEagerFor) {
    std::this_thread::sleep_for(20us);
    return 0ms;
  }
  return 1ms;
}

bool Service::may_end() {
  const auto now = Clock::now();
  if (feed_.empty() && processor_.idle()) return true;
  if ((now - moved_ > kGraceForWaits && !processor_.preparing()) || now - shutdown_at_ > kGraceForWork) {
    report_waits(true);
    return true;
  }
  return false;
}

void Service::report_waits(bool to_guest) {
  for (const auto& blocked : processor_.blocked()) {
    log::warn("submission {} is stuck: {}", blocked.sequence, blocked.text);
    if (to_guest) refused({"wait", fmt::format("never satisfied: {}", blocked.text)});
  }
}

Result<bool> Service::take_messages(std::chrono::milliseconds wait) {
  bool any = false;
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    auto record = wait > 0ms && !any ? from_guest_.pop(wait) : from_guest_.try_pop();
    if (!record) return std::unexpected(std::move(record.error()));
    if (!*record) break;
    any = true;
    injection::point("message-taken");
    ORRERY_TRY(handle(**record));
    injection::point("message-handled");
  }
  return any;
}

Result<void> Service::handle(std::span<const std::byte> message) {
  auto decoded = decode_from_guest(message);
  if (!decoded) return std::unexpected(std::move(decoded.error()));
  if (const auto* submit = std::get_if<Submit>(&*decoded)) {
    queued_writes_.submitted();
    return feed_.announced(submit->sequence);
  }
  if (const auto* asked = std::get_if<QueuedWritesAsked>(&*decoded)) {
    send(encode_queued_writes_refused(asked->ask, "questions have a ring of their own"));
  } else if (const auto* settle = std::get_if<Settle>(&*decoded)) {
    settle_ = settle->number;
  } else if (std::holds_alternative<Shutdown>(*decoded)) {
    shutdown_ = true;
    shutdown_at_ = moved_ = Clock::now();
  }
  // A changed map is taken at the next acquire point.
  return {};
}

Result<bool> Service::work() {
  bool moved = false;
  for (;;) {
    while (!feed_.empty() && feed_.front().kind == protocol::EntryKind::submission) {
      moved = true;
      const auto entry = feed_.pop();
      auto submission = command::parse_submission(entry);
      if (submission) {
        processor_.submit(std::move(*submission));
      } else {
        refused({"packet", submission.error().describe()});
        ORRERY_TRY(finish_entry(entry.sequence));
      }
    }
    auto ran = processor_.run();
    if (!ran) {
      if (ran.error().code != ExitCode::protocol_mismatch) ran.error().code = ExitCode::device_lost;
      return std::unexpected(std::move(ran.error()));
    }
    if (*ran) return true;
    // Everything before the flip is done, or waits for the CPU.
    if (feed_.empty() || processor_.preparing()) break;
    const auto entry = feed_.pop();
    status_.current_sequence.store(entry.sequence, std::memory_order_relaxed);
    ORRERY_TRY(flip(entry));
    moved = true;
  }
  if (processor_.idle()) status_.current_sequence.store(0, std::memory_order_relaxed);
  if (parts_.publish) parts_.publish(status_);
  return moved;
}

Result<present::Image> Service::image_of_flip(const protocol::FlipBody& flip) {
  const measure::Span span(measure::SpanName::read_frame, flip.flip_index);
  auto size = present::buffer_size(flip);
  if (!size) return std::unexpected(std::move(size.error()));
  const auto pieces = parts_.memory.pieces({flip.guest_address}, {*size});
  if (!pieces) {
    return fail(ExitCode::usage, "a flip of {} bytes at {:#x}, which is not mapped", *size, flip.guest_address);
  }
  if (!parts_.presenter.looks()) return present::Image{flip.width, flip.height, {}};
  if (pieces->size() == 1) {
    const auto frame = parts_.memory.arena().subspan(pieces->front().offset.value, *size);
    return present::image_of(flip, frame, std::move(frame_));
  }
  std::vector<std::byte> bytes(*size);
  ORRERY_TRY(parts_.memory.read({flip.guest_address}, bytes));
  return present::image_of(flip, bytes, std::move(frame_));
}

// Whatever is wrong with a frame, the title goes on: it hears that its flip is done.
Result<void> Service::flip(const protocol::EntryCopy& entry) {
  doing(protocol::Activity::present);
  parts_.stretches.begin();
  injection::point("flip");
  measure::Span span(measure::SpanName::present);
  ORRERY_TRY(parts_.memory.refresh());
  protocol::FlipBody body{};
  if (entry.body.size() < sizeof body) {
    refused({"flip", fmt::format("journal entry {} is a flip of {} bytes", entry.sequence, entry.body.size())});
  } else {
    std::memcpy(&body, entry.body.data(), sizeof body);
    span.set_detail(body.flip_index);
    if (auto image = image_of_flip(body); !image) {
      refused({"flip", image.error().describe()});
    } else if (auto shown = parts_.presenter.present(frame_ = std::move(*image), body.flip_index); !shown) {
      if (shown.error().code != ExitCode::usage) {
        if (shown.error().code != ExitCode::no_display) shown.error().code = ExitCode::device_lost;
        return forward(std::move(shown), fmt::format("showing flip {}", body.flip_index));
      }
      refused({"frame", shown.error().describe()});
    }
  }
  status_.flips.fetch_add(1, std::memory_order_relaxed);
  return finish_entry(entry.sequence);
}

void Service::poll_presenter() {
  if (!parts_.window) return;
  if (const auto pad = parts_.presenter.poll()) send(encode_input(*pad));
  if (parts_.presenter.closed() && !close_told_) {
    close_told_ = true;
    send(encode_window_closed());
  }
}

// The guest process may be slow to read; it may also be dead.
void Service::send(std::span<const std::byte> message) {
  while (!peer_lost_ && !to_guest_.push(message, 50ms)) {
    if (parts_.guest_gone() || parts_.asked_to_end()) peer_lost_ = true;
  }
  injection::point("message-sent");
}

Result<void> Service::finish_entry(uint64_t sequence) {
  parts_.stretches.part_of(sequence);
  ORRERY_TRY(parts_.stretches.done(sequence));
  return parts_.stretches.commit(parts_.guest_gone);
}

void Service::refused(const dispatch::Refusal& refusal) {
  status_.refusals.fetch_add(1, std::memory_order_relaxed);
  const auto* entry = refusals_.add(refusal);
  if (entry == nullptr) return;
  log::info("refused, {}: {} (x{})", entry->refusal.kind, entry->refusal.text, entry->count);
  send(encode_refusal(entry->refusal.kind, entry->refusal.text, entry->count));
}

void Service::registers_after(uint32_t queue, uint64_t sequence, const command::RegisterFile& registers) {
  queued_writes_.retired(queue, sequence, registers);
}

void Service::retired(uint64_t sequence) {
  if (auto finished = finish_entry(sequence); !finished) broken_ = std::move(finished.error());
}

void Service::queue_event(uint32_t queue, uint32_t context_id) {
  auto told = parts_.stretches.queue_event(queue, context_id);
  if (told) told = parts_.stretches.commit(parts_.guest_gone);
  if (!told) broken_ = std::move(told.error());
}

}  // namespace orrery::service
