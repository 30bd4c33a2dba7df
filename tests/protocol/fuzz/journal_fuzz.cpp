// Any bytes as what a new life of the service, or the guest process behind a dead one, finds in shared memory: journal
// entries and their bodies, and a stretch's record.
#include <sys/mman.h>
#include <cstdlib>
#include <memory>

#include "fuzz_target.hpp"
#include "gpu-service/command/submission.hpp"
#include "protocol/journal.hpp"
#include "protocol/stretch.hpp"

using namespace orrery;
using namespace orrery::protocol;

namespace {

constexpr uint64_t kBodies = 4096, kArena = 64 << 10;
constexpr size_t kSlots = 8;  // entries that the input fills in

struct Journal {
  std::vector<JournalEntry> entries = std::vector<JournalEntry>(kJournalEntries);
  std::vector<std::byte> bodies = std::vector<std::byte>(kBodies);
};

void read_journal(FuzzInput& input) {
  static Journal journal;  // allocating it for each input would cost more than all the rest
  const auto* raw = reinterpret_cast<const JournalEntry*>(journal.entries.data());
  for (size_t i = 0; i < kSlots; ++i) {
    const auto bytes = input.bytes(sizeof(JournalEntry));
    std::memset(static_cast<void*>(const_cast<JournalEntry*>(raw + i)), 0, sizeof(JournalEntry));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(const_cast<JournalEntry*>(raw + i)), bytes.data(), bytes.size());
  }
  const auto body = input.bytes(kBodies);
  std::memset(journal.bodies.data(), 0, kBodies);
  if (!body.empty()) std::memcpy(journal.bodies.data(), body.data(), body.size());
  JournalReader reader({reinterpret_cast<std::byte*>(journal.entries.data()), kJournalEntries * sizeof(JournalEntry)},
                       journal.bodies);
  (void)reader.newest();
  for (const uint64_t sequence : reader.open_entries()) {
    const auto entry = reader.read(sequence);
    if (!entry) continue;
    if (entry->body.size() > kBodies) std::abort();
    const auto submission = command::parse_submission(*entry);
    if (!submission) continue;
    size_t dwords = 0;
    for (const auto& buffer : submission->buffers) dwords += buffer.dwords.size();
    if (dwords * 4 > entry->body.size()) std::abort();
  }
}

// The record lies in sparse memory of full size.
void apply_record(FuzzInput& input) {
  static const auto redo = [] {
    const uint64_t size = redo_memory_size({kArena}).value;
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return std::span(static_cast<std::byte*>(at), size);
  }();
  static size_t used = 0;
  auto arena = std::make_unique<std::byte[]>(kArena);
  StretchSlot slot{};
  Ledger ledger{};
  StretchCommitter committer(slot, ledger, redo, {arena.get(), kArena});
  slot.begun = 1;
  slot.flags = input.take<uint8_t>();
  slot.sequence = input.take<uint8_t>();
  const uint64_t claimed = input.take<uint32_t>();
  const auto record = input.rest();
  std::memset(redo.data(), 0, used);
  used = record.size();
  if (used != 0) std::memcpy(redo.data(), record.data(), used);
  slot.record_bytes = claimed == UINT32_MAX ? UINT64_MAX : claimed <= used ? claimed : used;
  slot.executed = 1;
  const auto stretch = committer.take();
  if (!stretch) {
    // Nothing of a record that makes no sense is applied.
    for (uint64_t i = 0; i < kArena; ++i) {
      if (arena[i] != std::byte{0}) std::abort();
    }
    return;
  }
  if (!*stretch) std::abort();
  committer.retire(**stretch);
  if (slot.retired != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  if (input.take<uint8_t>() % 2 == 0) {
    read_journal(input);
  } else {
    apply_record(input);
  }
  return 0;
}

std::vector<std::vector<uint8_t>> fuzz_seeds() {
  std::vector<std::vector<uint8_t>> seeds;
  {
    Journal journal;
    JournalWriter writer({reinterpret_cast<std::byte*>(journal.entries.data()), kJournalEntries * sizeof(JournalEntry)},
                         journal.bodies);
    const SubmissionBody head{1, 0};
    const SubmittedBuffer buffer{0x1000, 2, 1};
    const uint32_t dwords[2] = {0xffff1000, 0xffff1000};
    const std::span<const std::byte> pieces[] = {
        std::as_bytes(std::span(&head, 1)), std::as_bytes(std::span(&buffer, 1)), std::as_bytes(std::span(dwords))};
    for (int i = 0; i < 3; ++i) (void)writer.try_append(EntryKind::submission, 1, 5, pieces);
    const std::byte which{0};
    seeds.push_back(
        joined({std::span(&which, 1),
                std::span(reinterpret_cast<const std::byte*>(journal.entries.data()), kSlots * sizeof(JournalEntry)),
                std::span(journal.bodies).first(256)}));
  }
  struct Head {
    uint32_t kind, reserved;
    uint64_t a, b, size;
  };
  std::vector<std::byte> record;
  const auto item = [&](StretchItem kind, uint64_t a, uint64_t payload) {
    const Head head{static_cast<uint32_t>(kind), 0, a, 0, payload};
    const auto bytes = std::as_bytes(std::span(&head, 1));
    record.insert(record.end(), bytes.begin(), bytes.end());
    record.resize(record.size() + (payload + 7) / 8 * 8, std::byte{0x55});
  };
  item(StretchItem::bytes, 0x100, 4);
  item(StretchItem::bytes, kArena - 13, 13);
  item(StretchItem::event, 3, 0);
  item(StretchItem::done, 1, 0);
  for (const bool page : {false, true}) {
    if (page) item(StretchItem::masked_page, 4096, 4096 + 512);
    const std::byte start[] = {std::byte{1}, std::byte{0}, std::byte{1}};
    const auto size = static_cast<uint32_t>(record.size());
    seeds.push_back(joined({std::span(start), std::as_bytes(std::span(&size, 1)), record}));
  }
  return seeds;
}
