#include "guest-host/capture/replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstring>
#include <deque>

#include "guest-host/capture/recorder.hpp"
#include "guest-host/link/wire_codec.hpp"
#include "shared/log.hpp"

namespace orrery::capture {
namespace {

using protocol::PartName;

// The last command buffer of a submission's body: where its dwords begin. Nothing when the body is none, or its last
// buffer could not be read.
std::optional<size_t> last_buffer(std::span<const std::byte> body) {
  protocol::SubmissionBody head{};
  if (body.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, body.data(), sizeof head);
  size_t at = sizeof head;
  std::optional<size_t> found;
  for (uint32_t i = 0; i < head.count; ++i) {
    protocol::SubmittedBuffer buffer{};
    if (body.size() - at < sizeof buffer) return std::nullopt;
    std::memcpy(&buffer, body.data() + at, sizeof buffer);
    at += sizeof buffer;
    found = buffer.readable != 0 ? std::optional(at) : std::nullopt;
    const uint64_t size = buffer.readable != 0 ? uint64_t{buffer.dwords} * 4 : 0;
    if (body.size() - at < size) return std::nullopt;
    at += size;
  }
  return found;
}

// PM4: type 3 carries its count of dwords behind the header, less one; type 2 is one dword of filling.
uint32_t packet_dwords(uint32_t header) { return header >> 30 == 2 ? 1 : (header >> 16 & 0x3fff) + 2; }

class Replay {
 public:
  Replay(CaptureReader& reader, const ReplayOptions& options, PageScan scan, link::Link& link, Audience& audience)
      : reader_(reader), options_(options), scan_(std::move(scan)), link_(link), audience_(audience) {}

  Result<ReplayResult> run() {
    link_.start(audience_);
    std::deque<Record> step;
    while (!done() && !audience_.over()) {
      auto record = reader_.next();
      if (!record) break;
      // A step is known whole before it is given, so that its last entry can be cut.
      step.push_back(std::move(*record));
      if (!std::holds_alternative<SettledRecord>(step.back())) continue;
      if (last_step()) note_packets(step);
      for (const Record& part : step) {
        if (auto given = std::visit([this](const auto& r) { return give(r); }, part); !given) {
          return std::unexpected(std::move(given.error()));
        }
      }
      step.clear();
    }
    result_.cut_off = !done() && reader_.cut_off() && !audience_.over();
    result_.ended_early = audience_.over();
    link_.finish(0);
    return std::move(result_);
  }

 private:
  bool done() const { return options_.steps != 0 && result_.steps.size() >= options_.steps; }
  bool last_step() const { return options_.steps != 0 && result_.steps.size() + 1 == options_.steps; }

  void note_packets(std::deque<Record>& step) {
    EntryRecord* last = nullptr;
    for (Record& record : step) {
      auto* const entry = std::get_if<EntryRecord>(&record);
      if (entry != nullptr && entry->kind == protocol::EntryKind::submission) last = entry;
    }
    const auto begin = last != nullptr ? last_buffer(last->body) : std::nullopt;
    if (!begin) return;
    std::vector<uint32_t> dwords((last->body.size() - *begin) / 4);
    if (!dwords.empty()) std::memcpy(dwords.data(), last->body.data() + *begin, dwords.size() * 4);
    for (size_t at = 0; at < dwords.size(); at += packet_dwords(dwords[at])) {
      result_.packets.push_back(static_cast<uint32_t>(at));
      result_.words.push_back(dwords[at]);
    }
    if (!options_.cut) return;
    const uint32_t kept = std::min(*options_.cut, static_cast<uint32_t>(dwords.size()));
    last->body.resize(*begin + size_t{kept} * 4);
    auto* const head = last->body.data() + *begin - sizeof(protocol::SubmittedBuffer);
    std::memcpy(head + offsetof(protocol::SubmittedBuffer, dwords), &kept, sizeof kept);
  }

  Result<void> give(const MapRecord& record) {
    map_ = record.entries;
    auto version = link_.map_writer().publish(map_);
    if (!version) return forward(std::move(version), "the capture's address map");
    link_.map_changed(*version);
    return {};
  }

  struct Run {
    uint64_t begin = 0, end = 0;
  };
  void report(const Run& run) {
    if (run.begin == run.end) return;
    link_.reported_writes().report(protocol::ReportKind::changed, ArenaOffset{run.begin}, Bytes{run.end - run.begin});
  }

  Result<void> give(const PagesRecord& record) {
    Run run;
    for (const StoredPage& page : record.pages) {
      const auto bytes = scan_.arena().subspan(page.offset, kPageBytes);
      if (page.content == 0) {
        std::ranges::fill(bytes, std::byte{0});
      } else {
        ORRERY_TRY(reader_.content(page.content, bytes));
      }
      // Pages come in the order of their offsets: neighbours are one report.
      if (page.offset != run.end) {
        report(run);
        run.begin = page.offset;
      }
      run.end = page.offset + kPageBytes;
    }
    report(run);
    return {};
  }

  Result<void> give(const RegistersRecord& record) {
    const auto part = link_.segment().part(PartName::checkpoints);
    if (record.protocol != link::wire_version() || record.checkpoints.size() != part.size()) {
      return fail(ExitCode::protocol_mismatch,
                  "the capture begins in the middle of a run of protocol {}; this build speaks {} and keeps registers "
                  "otherwise",
                  record.protocol, link::wire_version());
    }
    std::ranges::copy(record.checkpoints, part.begin());
    return {};
  }

  Result<void> give(const EntryRecord& record) {
    const std::array<std::span<const std::byte>, 1> body{record.body};
    auto sequence =
        link_.submissions().submit(record.kind, record.queue, std::chrono::nanoseconds(record.guest_time_ns), body);
    if (!sequence) return forward(std::move(sequence), "a submission of the capture");
    ++result_.entries;
    result_.flips += record.kind == protocol::EntryKind::flip;
    return {};
  }

  Result<void> give(const SettledRecord& record) {
    link_.settle();
    auto changed = scan_.look(map_);
    if (!changed) return std::unexpected(std::move(changed.error()));
    result_.steps.push_back({result_.entries, result_.flips, scan_.hash(), scan_.hash() == record.memory});
    return {};
  }

  Result<void> give(const EndRecord&) { return {}; }

  CaptureReader& reader_;
  const ReplayOptions& options_;
  PageScan scan_;
  link::Link& link_;
  Audience& audience_;
  std::vector<protocol::MapEntry> map_;
  ReplayResult result_;
};

}  // namespace

void Audience::run_must_end(const Error& why) {
  log::error("{}", why.describe());
  over_ = true;
}

uint64_t ReplayResult::different() const {
  return static_cast<uint64_t>(std::ranges::count(steps, false, &Step::equal));
}

std::string ReplayResult::hash() const {
  std::vector<MemoryHash> hashes;
  for (const Step& step : steps) hashes.push_back(step.memory);
  return hash_of(hashes);
}

Result<ReplayResult> replay(CaptureReader& reader, const ReplayOptions& options, const UniqueFd& arena,
                            link::Link& link, Audience& audience) {
  auto scan = PageScan::of(arena, Bytes{reader.facts().arena_size});
  if (!scan) return std::unexpected(std::move(scan.error()));
  return Replay(reader, options, std::move(*scan), link, audience).run();
}

std::string json_of(const ReplayResult& result, const Facts& facts) {
  std::string steps;
  for (const Step& step : result.steps) {
    steps +=
        fmt::format(R"({}{{"entries": {}, "flips": {}, "hash": "{:016x}{:016x}", "equal": {}}})",
                    steps.empty() ? "" : ", ", step.entries, step.flips, step.memory.low, step.memory.high, step.equal);
  }
  std::string title;
  for (const char c : facts.title) title += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32 ? '?' : c;
  return fmt::format(R"({{"title": "{}", "hash": "{}", "entries": {}, "flips": {}, "different": {}, "cut_off": {}, )"
                     R"("packets": [{}], "headers": [{}], "steps": [{}]}})",
                     title, result.hash(), result.entries, result.flips, result.different(), result.cut_off,
                     fmt::join(result.packets, ", "), fmt::join(result.words, ", "), steps);
}

std::string words_of(const ReplayResult& result) {
  std::string text = fmt::format("{} flips, {} submissions, {} results, hash {}", result.flips,
                                 result.entries - result.flips, result.steps.size(), result.hash());
  const auto first = std::ranges::find(result.steps, false, &Step::equal);
  if (first == result.steps.end()) {
    text += ", equal to the run's";
  } else {
    text += fmt::format("; {} results differ from the run's, the first after entry {} (flip {})", result.different(),
                        first->entries, first->flips);
  }
  if (result.cut_off) text += "; the capture is cut off behind that";
  if (result.ended_early) text += "; ended before the capture did";
  return text;
}

}  // namespace orrery::capture
