#include "guest-host/link/queued_writes.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "protocol/messages.capnp.h"

namespace orrery::link {
namespace {

using namespace std::chrono_literals;
using protocol::PartName;
namespace wire = protocol::wire;

// The other process's side of questions and journal.
struct Service {
  protocol::ControlSegment segment = std::move(*protocol::ControlSegment::create());
  SubmissionLog log{segment};
  QueuedWrites queued{segment, log};
  protocol::JournalReader reader{segment.part(PartName::journal), segment.part(PartName::journal_bytes)};
  // Fills in the answer to a question about submissions up to `last`; called on the service's thread.
  using Script = std::function<void(uint64_t last, wire::QueuedWritesAnswer::Builder answer)>;
  Script script;
  std::atomic<bool> stop{false}, silent{false};
  std::atomic<int> questions{0};
  std::thread thread;

  explicit Service(Script s) : script(std::move(s)) {
    queued.attach();
    thread = std::thread([this] { serve(); });
  }
  ~Service() {
    stop = true;
    thread.join();
  }
  uint64_t submit() {
    const std::array<std::byte, 8> body{};
    const std::span<const std::byte> piece = body;
    return *log.submit(EntryKind::submission, 0, 0ns, std::span(&piece, 1));
  }
  void retire(uint64_t sequence) {
    log.retire(sequence);
    log.collect();
  }

 private:
  void serve() {
    protocol::RingConsumer from(segment.part(PartName::questions));
    protocol::RingProducer to(segment.part(PartName::answers));
    while (!stop) {
      auto record = from.pop(5ms);
      if (!record || !*record) continue;
      std::vector<capnp::word> words((*record)->size() / sizeof(capnp::word));
      std::memcpy(words.data(), (*record)->data(), (*record)->size());
      capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()));
      const auto question = reader.getRoot<wire::GuestMessage>().getQueuedWrites();
      ++questions;
      if (silent) continue;
      capnp::MallocMessageBuilder message;
      auto answer = message.initRoot<wire::ServiceMessage>().initQueuedWritesAnswer();
      answer.setAsk(question.getAsk());
      script(question.getSequence(), answer);
      const auto flat = capnp::messageToFlatArray(message);
      const auto bytes = flat.asBytes();
      to.push({reinterpret_cast<const std::byte*>(bytes.begin()), bytes.size()}, 100ms);
    }
  }
};

void one_span(wire::QueuedWritesAnswer::Builder answer, uint64_t begin, uint64_t size, uint64_t sequence) {
  auto spans = answer.initSpans(1);
  spans[0].setAddress(begin);
  spans[0].setSize(size);
  spans[0].setSequence(sequence);
}

TEST(QueuedWrites, nothing_is_asked_while_nothing_is_open) {
  Service service([](uint64_t, auto answer) { answer.initSpans(0); });
  EXPECT_TRUE(service.queued.settle({0x1000}, {0x1000}));
  const uint64_t done = service.submit();
  service.retire(done);
  EXPECT_TRUE(service.queued.settle({0x1000}, {0x1000}));
  EXPECT_EQ(service.questions, 0);
}

TEST(QueuedWrites, only_the_submissions_concerned_are_waited_for) {
  Service service([](uint64_t, auto answer) { one_span(answer, 0x1000, 0x100, 1); });
  const uint64_t first = service.submit();
  service.submit();
  // Next to the range, on both sides: nothing to wait for.
  EXPECT_TRUE(service.queued.settle({0x1100}, {0x1000}));
  EXPECT_TRUE(service.queued.settle({0}, {0x1000}));
  EXPECT_EQ(service.queued.counts().waits, 0u);
  std::atomic<bool> settled{false};
  std::thread title([&] {
    EXPECT_TRUE(service.queued.settle({0x10ff}, {1}));
    settled = true;
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(settled);
  service.script = [](uint64_t, auto answer) { answer.initSpans(0); };
  service.retire(first);  // the second is still open
  title.join();
  EXPECT_EQ(service.queued.counts().waits, 1u);
  EXPECT_EQ(service.log.newest_open(UINT64_MAX), 2u);
}

TEST(QueuedWrites, work_that_nothing_bounds_is_waited_for_and_its_reason_counted) {
  Service service([](uint64_t last, auto answer) {
    if (last == 0) return;
    answer.setUnbounded("submission 1: program 0x74005b87e400: device-addressed");
    answer.setSequence(1);
  });
  const uint64_t first = service.submit();
  // A read on the title's behalf does not wait for it.
  EXPECT_TRUE(service.queued.settle({0x1000}, {0x100}, Unbounded::go_on));
  std::thread title([&] { EXPECT_TRUE(service.queued.settle({0x1000}, {0x100})); });
  std::this_thread::sleep_for(30ms);
  service.script = [](uint64_t, auto answer) { answer.initSpans(0); };
  service.retire(first);
  title.join();
  const QueuedWritesCounts counts = service.queued.counts();
  EXPECT_EQ(counts.waits, 1u);
  ASSERT_EQ(counts.reasons.size(), 1u);
  EXPECT_EQ(counts.reasons.begin()->first, "submission #: program #: device-addressed");
  EXPECT_NE(describe(counts).find("x submission #"), std::string::npos);
}

TEST(QueuedWrites, a_submission_that_may_wait_for_the_asker_is_given_up_once) {
  Service service([](uint64_t, auto answer) { one_span(answer, 0x1000, 0x100, 1); });
  service.submit();
  EXPECT_FALSE(service.queued.settle({0x1000}, {0x100}));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(service.queued.settle({0x1000}, {0x100}));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
  EXPECT_EQ(service.queued.counts().given_up, 2u);
}

TEST(QueuedWrites, without_a_service_everything_open_counts) {
  Service service([](uint64_t, auto answer) { answer.initSpans(0); });
  service.queued.detach();
  const uint64_t first = service.submit();
  std::thread title([&] { EXPECT_TRUE(service.queued.settle({0x1000}, {0x100})); });
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(service.questions, 0);
  // A new life answers the same wait.
  service.queued.attach();
  title.join();
  EXPECT_GT(service.questions, 0);
  EXPECT_EQ(service.log.newest_open(UINT64_MAX), first);
}

TEST(QueuedWrites, a_refused_or_missing_answer_is_no_answer) {
  Service service([](uint64_t, auto answer) { answer.setRefused("no"); });
  service.submit();
  EXPECT_FALSE(service.queued.ask(1, 200ms));
  service.silent = true;
  EXPECT_FALSE(service.queued.ask(1, 30ms));
  // An answer that comes late is not taken for the next question's.
  service.silent = false;
  service.script = [](uint64_t, auto answer) { one_span(answer, 1, 2, 3); };
  const auto answer = service.queued.ask(1, 1s);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->spans.size(), 1u);
  EXPECT_EQ(answer->spans[0].begin.value, 1u);
  EXPECT_EQ(answer->spans[0].size.value, 2u);
  EXPECT_EQ(answer->spans[0].sequence, 3u);
  EXPECT_EQ(service.queued.counts().unanswered, 2u);
}

}  // namespace
}  // namespace orrery::link
