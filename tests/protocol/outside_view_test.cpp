#include "protocol/outside_view.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "protocol/control_segment.hpp"
#include "protocol/top/screen.hpp"
#include "shared/measure/span.hpp"

namespace orrery::protocol {
namespace {

ServiceStatus& status_of(const ControlSegment& segment) {
  return *reinterpret_cast<ServiceStatus*>(segment.part(PartName::status).data());
}

// A process that runs `body` and then stands still until the test ends.
class Other {
 public:
  template <class Body>
  explicit Other(Body body) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      [[maybe_unused]] const auto kept = body();
      EXPECT_EQ(::write(ready[1], "x", 1), 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
  }
  ~Other() { kill(); }
  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = 0;
  }
  void stop() const {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  int pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

Result<ControlSegment> running_segment() {
  auto segment = ControlSegment::create();
  measure::set_title(segment->measures(), "a \"title\"");
  measure::attach(segment->measures(), measure::Process::guest);
  status_of(*segment).flips = 41;
  return segment;
}

TEST(OutsideView, a_stopped_process_is_looked_into_with_what_it_counted_and_what_is_open) {
  Other other([] {
    auto segment = running_segment();
    for (int i = 0; i < 3; ++i) const measure::Span span(measure::SpanName::queue_full);
    static const measure::Span open(measure::SpanName::queue_full, 2);
    return segment;
  });
  other.stop();
  auto view = OutsideView::open(other.pid());
  ASSERT_TRUE(view) << view.error().describe();
  EXPECT_TRUE(view->alive());
  EXPECT_EQ(view->title(), "a \"title\"");
  const auto look = look_at(*view);
  ASSERT_TRUE(look);
  EXPECT_EQ(look->flips, 41u);
  ASSERT_EQ(look->measures.spans.size(), 1u);
  EXPECT_EQ(look->measures.spans[0].count, 3u);
  ASSERT_EQ(look->measures.open.size(), 1u);
  EXPECT_EQ(look->measures.open[0].detail, 2u);
  const Shown shown{other.pid(), view->title(), *look, *look_at(*view)};
  EXPECT_TRUE(shown.still());
  const std::string screen = screen_of(shown);
  for (const char* part : {"a ?title?", "NOT MOVING", "flips 41", "queue full", "queue full (queue 2) for"}) {
    EXPECT_NE(screen.find(part), std::string::npos) << part << "\n" << screen;
  }
  EXPECT_NE(json_of(shown).find("\"still\":true"), std::string::npos);
}

TEST(OutsideView, a_process_that_ends_is_seen_to_end_and_its_numbers_stay) {
  Other other(running_segment);
  auto view = OutsideView::open(other.pid());
  ASSERT_TRUE(view) << view.error().describe();
  other.kill();
  EXPECT_FALSE(view->alive());
  EXPECT_EQ(look_at(*view)->flips, 41u);
}

TEST(OutsideView, a_process_without_a_segment_and_one_that_is_not_there_are_told_apart_by_name) {
  Other other([] { return 0; });
  const auto none = OutsideView::open(other.pid());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ExitCode::usage);
  EXPECT_NE(none.error().message.find("runs no title"), std::string::npos);
  const int gone = other.pid();
  other.kill();
  EXPECT_FALSE(OutsideView::open(gone));
}

TEST(OutsideView, a_segment_whose_directory_is_damaged_is_refused) {
  for (int damage = 0; damage < 5; ++damage) {
    const Other other([damage] {
      auto segment = running_segment();
      auto whole = Mapping::of(segment->fd(), Bytes{0}, segment->size());
      auto& directory = *reinterpret_cast<SegmentDirectory*>(whole->data() + segment->size().value - kDirectoryBytes);
      auto& part = directory.parts[static_cast<size_t>(PartName::measures)];
      if (damage == 0) directory.magic = 0;
      if (damage == 1) ++directory.protocol_version;
      if (damage == 2) part.offset = segment->size().value;
      if (damage == 3) part.size = 8;
      if (damage == 4) directory.count = 1;
      return segment;
    });
    const auto view = OutsideView::open(other.pid());
    ASSERT_FALSE(view) << damage;
    EXPECT_EQ(view.error().code, ExitCode::protocol_mismatch) << view.error().describe();
  }
}

}  // namespace
}  // namespace orrery::protocol
