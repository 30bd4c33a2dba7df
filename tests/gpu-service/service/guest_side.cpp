#include "guest_side.hpp"

#include <capnp/serialize.h>
#include <unistd.h>

#include <cstring>

#include "protocol/address_map.hpp"
#include "protocol/messages.capnp.h"

namespace orrery::service::test {
namespace {

using protocol::PartName;
using namespace std::chrono_literals;
namespace wire = protocol::wire;

constexpr auto kPatience = 20s;

template <class Fill>
std::vector<std::byte> encode(Fill fill) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<wire::GuestMessage>());
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.begin());
  return {begin, begin + bytes.size()};
}

std::string words_of_answer(wire::QueuedWritesAnswer::Reader answer) {
  switch (answer.which()) {
    case wire::QueuedWritesAnswer::SPANS: {
      std::string text = "spans:";
      for (const auto s : answer.getSpans()) {
        text += fmt::format(" {:#x}+{} by {}", s.getAddress(), s.getSize(), s.getSequence());
      }
      return text;
    }
    case wire::QueuedWritesAnswer::UNBOUNDED:
      return fmt::format("unbounded up to {}: {}", answer.getSequence(), answer.getUnbounded().cStr());
    case wire::QueuedWritesAnswer::REFUSED:
      return fmt::format("queued writes {} refused", answer.getAsk());
  }
  return "unknown";
}

std::string words_of(std::span<const std::byte> bytes) {
  std::vector<capnp::word> words(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()));
  const auto message = reader.getRoot<wire::ServiceMessage>();
  switch (message.which()) {
    case wire::ServiceMessage::INPUT:
      return fmt::format("input {:x}", message.getInput().getButtons());
    case wire::ServiceMessage::REFUSAL:
      return fmt::format("refusal {}: {}", message.getRefusal().getKind().cStr(),
                         message.getRefusal().getText().cStr());
    case wire::ServiceMessage::QUEUED_WRITES_ANSWER:
      return words_of_answer(message.getQueuedWritesAnswer());
    case wire::ServiceMessage::WINDOW_CLOSED:
      return "closed";
    case wire::ServiceMessage::SETTLED:
      return fmt::format("settled {}", message.getSettled());
  }
  return "unknown";
}

template <class T>
T value_or_die(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().describe());
  return std::move(*result);
}

}  // namespace

std::vector<dispatch::Refusal> CpuExecutor::fill(GuestAddress destination, Bytes size, uint32_t value) {
  for (uint64_t at = 0; at < size.value; at += 4) EXPECT_TRUE(memory_.write_u32({destination.value + at}, value));
  return {};
}
Result<std::vector<dispatch::Refusal>> CpuExecutor::finish() {
  if (lost) return fail(ExitCode::internal, "the device was lost");
  while (busy != nullptr && busy->load()) std::this_thread::sleep_for(1ms);
  return std::vector<dispatch::Refusal>{};
}

Result<void> RecordingPresenter::present(const present::Image& image, uint64_t flip_index) {
  const std::lock_guard lock(mutex_);
  if (error) return std::unexpected(*error);
  shown_.emplace_back(flip_index, image.pixels.empty() ? 0 : image.pixels[0]);
  return {};
}
std::optional<present::PadState> RecordingPresenter::poll() {
  if (!press.exchange(false)) return std::nullopt;
  return present::PadState{.buttons = 0x10};
}
std::vector<std::pair<uint64_t, uint32_t>> RecordingPresenter::shown() {
  const std::lock_guard lock(mutex_);
  return shown_;
}

GuestSide::GuestSide()
    : segment(value_or_die(protocol::ControlSegment::create())),
      arena_file(value_or_die(make_memory_file("arena", {kDataSize}))),
      redo_file(value_or_die(make_memory_file("redo", protocol::redo_memory_size({kDataSize})))),
      arena(value_or_die(Mapping::of(arena_file, {0}, {kDataSize}))),
      redo(value_or_die(Mapping::of(redo_file, {0}, protocol::redo_memory_size({kDataSize})))) {
  committer_.emplace(*reinterpret_cast<protocol::StretchSlot*>(segment.part(PartName::stretch).data()), ledger(),
                     redo.bytes(), arena.bytes());
  commits_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      committer_->wait(5ms);
      while (commit_one()) {
      }
    }
  });
  journal.emplace(segment.part(PartName::journal), segment.part(PartName::journal_bytes));
  const protocol::MapEntry entry{kData, kDataSize, 0, 0x33, 4};
  protocol::AddressMapWriter writer(segment.part(PartName::address_map));
  EXPECT_TRUE(writer.publish({&entry, 1}));
}

GuestSide::~GuestSide() {
  gone = true;
  if (thread_.joinable()) thread_.join();
}

bool GuestSide::commit_one() {
  const std::lock_guard lock(committed_);
  auto stretch = committer_->take();
  if (!stretch) {
    published_.push_back(stretch.error().describe());
    return false;
  }
  if (!*stretch) return false;
  for (const auto& effect : (*stretch)->effects) {
    if (const auto* event = std::get_if<protocol::StretchEvent>(&effect)) {
      published_.push_back(fmt::format("event {} {}", event->queue, event->context_id));
      continue;
    }
    const uint64_t sequence = std::get<protocol::StretchDone>(effect).sequence;
    journal->mark_retired(sequence);
    published_.push_back(
        fmt::format("{} {}", kinds_[sequence] == protocol::EntryKind::flip ? "flip done" : "retired", sequence));
  }
  committer_->retire(**stretch);
  return true;
}

void GuestSide::attach() {
  {
    const std::lock_guard lock(committed_);
    committer_->life_ended();
  }
  to_service.emplace(segment.part(PartName::guest_to_service));
  to_service->reset();
  protocol::RingProducer(segment.part(PartName::service_to_guest)).reset();
  from_service.emplace(segment.part(PartName::service_to_guest));
  questions.emplace(segment.part(PartName::questions));
  questions->reset();
  protocol::RingProducer(segment.part(PartName::answers)).reset();
  answers.emplace(segment.part(PartName::answers));
}

std::string GuestSide::ask(uint64_t last) {
  EXPECT_TRUE(questions->push(encode([&](wire::GuestMessage::Builder m) {
                                auto question = m.initQueuedWrites();
                                question.setAsk(++last_ask_);
                                question.setSequence(last);
                              }),
                              kPatience));
  auto record = answers->pop(kPatience);
  if (!record || !*record) {
    ADD_FAILURE() << "no answer came";
    return "";
  }
  return words_of(**record);
}

void GuestSide::start(uint32_t life, bool window) {
  gone = term = false;
  attach();
  thread_ = std::thread([this, life, window] {
    auto view = value_or_die(
        protocol::ControlSegmentView::open(UniqueFd(dup(segment.fd().get())), segment.size(), segment.parts()));
    auto mapping = value_or_die(Mapping::of(arena_file, {0}, {kDataSize}));
    memory::GuestMemory memory(mapping.bytes(),
                               protocol::AddressMapReader(view.part(PartName::address_map), {kDataSize}));
    CpuExecutor executor(memory);
    auto redo_view = value_or_die(Mapping::of(redo_file, {0}, protocol::redo_memory_size({kDataSize})));
    protocol::StretchWriter stretches(*reinterpret_cast<protocol::StretchSlot*>(view.part(PartName::stretch).data()),
                                      redo_view.bytes(), {kDataSize});
    executor.lost = lose_device.load();
    executor.busy = &device_busy;
    Service service({view, memory, executor, presenter, stretches, life, true, window, [this] { return gone.load(); },
                     [this] { return term.load(); }, nullptr});
    ended_ = service.run();
  });
}

Result<void> GuestSide::end() {
  thread_.join();
  return ended_;
}

uint64_t GuestSide::append(protocol::EntryKind kind, uint32_t queue, std::span<const std::span<const std::byte>> body) {
  const std::lock_guard lock(committed_);
  const auto sequence = journal->try_append(kind, queue, 1000, body);
  kinds_[sequence.value_or(0)] = kind;
  EXPECT_TRUE(sequence);
  return sequence.value_or(0);
}

uint64_t GuestSide::submit(std::vector<uint32_t> dwords, uint32_t queue, bool tell) {
  const protocol::SubmissionBody head{1, 0};
  const protocol::SubmittedBuffer buffer{0x1000, static_cast<uint32_t>(dwords.size()), 1};
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(&buffer, 1)),
                                               std::as_bytes(std::span(dwords))};
  const uint64_t sequence = append(protocol::EntryKind::submission, queue, pieces);
  if (tell) announce(sequence);
  return sequence;
}

uint64_t GuestSide::flip(uint64_t flip_index, uint64_t address, uint64_t format) {
  const protocol::FlipBody body{address, 16, 8, 16, 1, format, 0, flip_index, 0, 0};
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(&body, 1))};
  const uint64_t sequence = append(protocol::EntryKind::flip, 0, pieces);
  announce(sequence);
  return sequence;
}

void GuestSide::announce(uint64_t sequence) {
  push(encode([&](wire::GuestMessage::Builder m) { m.setSubmit(sequence); }));
}
void GuestSide::shutdown() {
  push(encode([](wire::GuestMessage::Builder m) { m.setShutdown(); }));
}
void GuestSide::settle(uint64_t number) {
  push(encode([&](wire::GuestMessage::Builder m) { m.setSettle(number); }));
}
void GuestSide::push(std::span<const std::byte> bytes) { ASSERT_TRUE(to_service->push(bytes, kPatience)); }

std::optional<std::string> GuestSide::try_next() {
  const std::lock_guard lock(committed_);
  while (auto record = from_service->try_pop()) {
    if (!*record) break;
    told_.push_back(words_of(**record));
  }
  // What a stretch was refused is told before it is published; everything else that is told comes behind.
  const bool refusal = !told_.empty() && told_.front().starts_with("refusal");
  auto& from = refusal || published_.empty() ? told_ : published_;
  if (from.empty()) return std::nullopt;
  std::string words = std::move(from.front());
  from.pop_front();
  return words;
}

std::string GuestSide::next() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (auto words = try_next()) return *words;
    std::this_thread::sleep_for(200us);
  }
  ADD_FAILURE() << "no message came";
  return "";
}

std::vector<std::string> GuestSide::rest() {
  while (commit_one()) {
  }
  std::vector<std::string> words;
  while (auto word = try_next()) words.push_back(*word);
  return words;
}

uint32_t GuestSide::u32(uint64_t address) const {
  return std::atomic_ref(*reinterpret_cast<uint32_t*>(arena.data() + (address - kData))).load();
}
void GuestSide::put(uint64_t address, uint32_t value) {
  std::atomic_ref(*reinterpret_cast<uint32_t*>(arena.data() + (address - kData))).store(value);
}
protocol::ServiceStatus& GuestSide::status() {
  return *reinterpret_cast<protocol::ServiceStatus*>(segment.part(PartName::status).data());
}

protocol::Ledger& GuestSide::ledger() {
  return *reinterpret_cast<protocol::Ledger*>(segment.part(PartName::ledger).data());
}

std::vector<uint32_t> write_data(uint64_t address, uint32_t value) {
  return {0xc0033700, 0x00100500, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), value};
}
std::vector<uint32_t> wait_for(uint64_t address, uint32_t value) {
  return {0xc0053c00, 0x13, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), value, ~0u, 4};
}
std::vector<uint32_t> interrupt(uint32_t context_id) { return {0xc0064900, 0x514, 2u << 24, 0, 0, 0, 0, context_id}; }

}  // namespace orrery::service::test
