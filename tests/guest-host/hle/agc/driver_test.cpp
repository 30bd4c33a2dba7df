#include <gtest/gtest.h>
#include <cstring>

#include "guest-host/hle/agc/driver.hpp"
#include "protocol/segment_layout.hpp"
#include "tests/guest-host/hle/console_run.hpp"
#include "tests/guest-host/hle/fake_service.hpp"

namespace orrery::hle::agc {
namespace {

using test::ConsoleRun;

// A link without launcher or service: only the journal.
struct Bench {
  test::FakeLauncher launcher;
  UniqueFd arena = std::move(*make_memory_file("arena", Bytes{1 << 20}));
  std::unique_ptr<link::Link> link = std::move(*link::Link::create(launcher.guest_end(), arena, Bytes{1 << 20}, {}));
  ConsoleRun run{{.link = link.get()}};
  protocol::JournalReader journal{link->segment().part(protocol::PartName::journal),
                                  link->segment().part(protocol::PartName::journal_bytes)};
  GuestAddress page = run.allocate(0x4000);

  int32_t submit(const char* function, std::vector<uint64_t> first, uint64_t address, uint32_t dwords) {
    run.write(page, SubmitDescription{address, dwords, 0, 0});
    first.push_back(page.value);
    return static_cast<int32_t>(ConsoleRun::invoke(*run.registry().find_name(function), first));
  }
};

TEST(Driver, a_submission_is_copied_into_the_journal_when_it_is_made) {
  Bench s;
  const GuestAddress commands = s.run.allocate(0x4000);
  s.run.write(commands, std::array<uint32_t, 3>{1, 2, 3});
  ASSERT_EQ(s.submit("sceAgcDriverSubmitDcb", {}, commands.value, 3), 0);
  s.run.write(commands, std::array<uint32_t, 3>{9, 9, 9});
  auto entry = s.journal.read(1);
  ASSERT_TRUE(entry) << entry.error().describe();
  EXPECT_EQ(entry->kind, protocol::EntryKind::submission);
  EXPECT_EQ(entry->queue, 0u);
  protocol::SubmissionBody body;
  protocol::SubmittedBuffer buffer;
  ASSERT_EQ(entry->body.size(), sizeof body + sizeof buffer + 12);
  std::memcpy(&body, entry->body.data(), sizeof body);
  std::memcpy(&buffer, entry->body.data() + sizeof body, sizeof buffer);
  uint32_t words[3];
  std::memcpy(words, entry->body.data() + sizeof body + sizeof buffer, sizeof words);
  EXPECT_EQ(body.count, 1u);
  EXPECT_EQ(buffer.guest_address, commands.value);
  EXPECT_EQ(buffer.dwords, 3u);
  EXPECT_EQ(buffer.readable, 1u);
  EXPECT_EQ(words[2], 3u);
}

TEST(Driver, an_address_outside_the_map_is_journaled_as_unreadable) {
  Bench s;
  ASSERT_EQ(s.submit("sceAgcDriverSubmitDcb", {}, 0x123400000000, 16), 0);
  auto entry = s.journal.read(1);
  ASSERT_TRUE(entry);
  protocol::SubmittedBuffer buffer;
  ASSERT_EQ(entry->body.size(), sizeof(protocol::SubmissionBody) + sizeof buffer);
  std::memcpy(&buffer, entry->body.data() + sizeof(protocol::SubmissionBody), sizeof buffer);
  EXPECT_EQ(buffer.readable, 0u);
}

TEST(Driver, queues_have_numbers_of_their_own_and_survive_their_destruction) {
  Bench s;
  const GuestAddress out = s.run.allocate(0x4000);
  std::vector<uint64_t> handles;
  for (uint64_t type : {0, 3, 3}) {
    ASSERT_EQ(s.run.call32("sceAgcDriverCreateQueue", {type, out.value, 0}), 0);
    handles.push_back(s.run.read<uint64_t>(out));
  }
  EXPECT_EQ(static_cast<uint32_t>(s.run.call32("sceAgcDriverDestroyQueue", {handles[1]})), 0x8a6d0003u);
  for (uint64_t handle : handles) EXPECT_EQ(s.submit("sceAgcDriverSubmitCommandBuffer", {handle}, 0, 0), 0);
  EXPECT_EQ(s.submit("sceAgcDriverSubmitAcb", {7}, 0, 0), 0);
  EXPECT_EQ(s.submit("sceAgcDriverSubmitAcb", {7}, 0, 0), 0);
  const uint32_t queues[] = {0, 1, 2, 3, 3};
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(s.journal.read(i + 1)->queue, queues[i]);
}

TEST(Driver, bad_handles_types_and_descriptions_are_errors) {
  Bench s;
  EXPECT_EQ(static_cast<uint32_t>(s.run.call32("sceAgcDriverCreateQueue", {1, s.page.value, 0})), 0x8a6d0003u);
  EXPECT_EQ(static_cast<uint32_t>(s.run.call32("sceAgcDriverCreateQueue", {0, 16, 0})), 0x8a6d0003u);
  EXPECT_EQ(static_cast<uint32_t>(s.submit("sceAgcDriverSubmitCommandBuffer", {42}, 0, 0)), 0x8a6d0003u);
  EXPECT_EQ(static_cast<uint32_t>(s.run.call32("sceAgcDriverSubmitDcb", {8})), 0x8a6d0003u);
  EXPECT_EQ(s.link->submissions().submitted(), 0u);
}

TEST(Driver, without_a_service_a_submission_is_refused_by_name) {
  ConsoleRun run;
  const GuestAddress page = run.allocate(0x4000);
  EXPECT_EQ(static_cast<uint32_t>(run.call32("sceAgcDriverSubmitDcb", {page.value})), 0x8a6d0003u);
  EXPECT_NE(run.refusals().summary().find("submission"), std::string::npos);
}

}  // namespace
}  // namespace orrery::hle::agc
