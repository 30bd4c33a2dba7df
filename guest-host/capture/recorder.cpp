#include "guest-host/capture/recorder.hpp"

#include <fmt/format.h>
#include <charconv>

#include "guest-host/link/wire_codec.hpp"
#include "shared/log.hpp"

namespace orrery::capture {

using protocol::PartName;

Result<Wish> parse_wish(const std::string& text) {
  Wish wish{text, 0, UINT64_MAX};
  const size_t colon = text.rfind(':');
  if (colon == text.npos || text.find('/', colon) != text.npos) return wish;
  const char* const end = text.data() + text.size();
  const auto from = std::from_chars(text.data() + colon + 1, end, wish.from);
  const bool dash = from.ec == std::errc{} && from.ptr != end && *from.ptr == '-';
  const auto to = dash ? std::from_chars(from.ptr + 1, end, wish.to) : from;
  if (!dash || to.ec != std::errc{} || to.ptr != end || wish.from >= wish.to || colon == 0) {
    return fail(ExitCode::usage, "--capture {}: behind the file's name belongs :FROM-TO, flips from FROM to before TO",
                text);
  }
  wish.path.resize(colon);
  return wish;
}

std::string hash_of(std::span<const MemoryHash> results) { return hash_bytes(std::as_bytes(results)).hex(); }

Result<std::unique_ptr<Recorder>> Recorder::start(const Wish& wish, const std::string& title, const UniqueFd& arena,
                                                  Bytes arena_size, const protocol::ControlSegment& segment) {
  auto writer = CaptureWriter::create(wish.path, {title, arena_size.value, wish.from});
  if (!writer) return std::unexpected(std::move(writer.error()));
  auto scan = PageScan::of(arena, arena_size);
  if (!scan) return std::unexpected(std::move(scan.error()));
  return std::unique_ptr<Recorder>(new Recorder(wish, std::move(*writer), std::move(*scan), segment, arena_size));
}

Recorder::Recorder(Wish wish, CaptureWriter writer, PageScan scan, const protocol::ControlSegment& segment,
                   Bytes arena_size)
    : wish_(std::move(wish)),
      writer_(std::move(writer)),
      scan_(std::move(scan)),
      segment_(segment),
      map_reader_(segment.part(PartName::address_map), arena_size) {}

void Recorder::stop(const Error& error) {
  failed_ = error;
  over_ = true;
}

void Recorder::write_memory() {
  if (map_reader_.version() != map_version_) {
    auto map = map_reader_.snapshot(&map_version_);
    if (!map) return stop(map.error());
    map_ = std::move(*map);
    writer_.map(map_);
  }
  const auto changed = scan_.look(map_);
  if (!changed) return stop(changed.error());
  writer_.pages(*changed);
}

void Recorder::begin() {
  recording_ = true;
  if (wish_.from == 0) return;
  writer_.registers(link::wire_version(), segment_.part(PartName::checkpoints));
}

void Recorder::appended(protocol::EntryKind kind, uint32_t queue, std::chrono::nanoseconds guest_time,
                        std::span<const std::span<const std::byte>> body) {
  const std::lock_guard lock(mutex_);
  // A capture begins where nothing is under way.
  if (!recording_ && !over_ && flips_ >= wish_.from && open_ == 0) begin();
  if (recording_ && !over_) {
    beside_ += open_ != 0;
    write_memory();
    writer_.entry(kind, queue, static_cast<uint64_t>(guest_time.count()), body);
    ++given_.entries;
    given_.flips += kind == protocol::EntryKind::flip;
  }
  flips_ += kind == protocol::EntryKind::flip;
}

void Recorder::settling() {
  const std::lock_guard lock(mutex_);
  if (!recording_ || over_) return;
  // What waits for the title may go on with what the title wrote since.
  if (open_ != 0) {
    ++beside_;
    write_memory();
  }
}

void Recorder::settled(uint64_t open) {
  const std::lock_guard lock(mutex_);
  open_ = open;
  if (!recording_ || over_) return;
  if (const auto changed = scan_.look(map_); !changed) return stop(changed.error());
  writer_.settled({scan_.hash(), open});
  results_.push_back(scan_.hash());
  written_ = given_;
  over_ = flips_ >= wish_.to;
}

Result<std::string> Recorder::finish() {
  const std::lock_guard lock(mutex_);
  if (failed_) return std::unexpected(*failed_);
  over_ = true;
  ORRERY_TRY(writer_.end(written_));
  if (!recording_) {
    return fail(ExitCode::usage, "nothing was captured: the run showed {} flips, and nothing began at flip {}", flips_,
                wish_.from);
  }
  std::string text = fmt::format("{} flips, {} submissions, {} results, {:.1f} MiB, hash {}", written_.flips,
                                 written_.entries - written_.flips, results_.size(),
                                 static_cast<double>(writer_.bytes()) / (1 << 20), hash_of(results_));
  if (beside_ != 0) {
    text += fmt::format("; the GPU may have worked beside the title at {} of them, where a replay may differ", beside_);
  }
  return text;
}

}  // namespace orrery::capture
