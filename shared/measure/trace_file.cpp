#include "shared/measure/trace_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shared/measure/span.hpp"

namespace orrery::measure {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
// Above every thread id, so that tracks of devices and queues can't meet a thread's.
constexpr uint64_t kDeviceTrack = 5'000'000'000, kQueueTrack = 6'000'000'000;

uint64_t track_id(const EventKey& key) {
  switch (key.track) {
    case TrackKind::device:
      return kDeviceTrack + key.number;
    case TrackKind::queue:
      return kQueueTrack + key.number;
    case TrackKind::thread:
      break;
  }
  return key.number;
}

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) out += c < 0x20 || c > 0x7e || c == '"' || c == '\\' ? '?' : c;
  return out;
}

// Microseconds with three decimals, exactly.
std::string micros(uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::string thread_name_of(const Slot& slot) {
  std::array<char, 16> name{};
  for (size_t i = 0; i < slot.thread_name.size(); ++i) {
    const uint64_t word = slot.thread_name[i].load(kRelaxed);
    std::memcpy(name.data() + i * sizeof word, &word, sizeof word);
  }
  return {name.data(), ::strnlen(name.data(), name.size())};
}

std::string arguments_of(std::string_view name, uint64_t detail, bool unfinished) {
  const std::string text = detail_text(name, detail);
  std::string out;
  if (const size_t space = text.find(' '); space != text.npos) {
    const size_t value = text.rfind(' ');
    out = fmt::format("\"{}\":\"{}\"", text.substr(0, value), text.substr(value + 1));
  }
  if (unfinished) out += fmt::format("{}\"unfinished\":true", out.empty() ? "" : ",");
  return out;
}

}  // namespace

Result<TraceFile> TraceFile::create(Region& region, const std::string& path) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "we"));
  if (!file) return fail(ExitCode::usage, "cannot write the trace {}: {}", path, std::strerror(errno));
  TraceFile trace(region, std::move(file), path);
  trace.put("[{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"guest\"}}");
  region.tracing.store(1, kRelaxed);
  return trace;
}

void TraceFile::put(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) failed_ = true;
}

void TraceFile::name_track(const EventKey& key, std::string_view name) {
  if (key.life != 0 && named_.emplace(key.life, UINT64_MAX).second) {
    put(fmt::format(
        ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":0,\"name\":\"process_name\",\"args\":{{\"name\":\"GPU service, "
        "life {}\"}}}}",
        key.life, key.life));
  }
  if (!named_.emplace(key.life, track_id(key)).second) return;
  std::string text = plain(name);
  if (key.track == TrackKind::device) text = "device";
  if (key.track == TrackKind::queue) text = fmt::format("queue {}", key.number);
  put(fmt::format(",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"{}\"}}}}",
                  key.life, track_id(key), text));
  put(fmt::format(
      ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{}}}}}",
      key.life, track_id(key), static_cast<unsigned>(key.track)));
}

void TraceFile::write(const Line& line) {
  const uint64_t origin = region_->start_ns.load(kRelaxed);
  uint64_t start = std::max(line.start_ns, origin) - origin;
  uint64_t duration = line.duration_ns;
  if (line.key.track == TrackKind::device) {
    // Two calibrations of the device's clock may differ by less than a microsecond; its work never overlaps.
    uint64_t& last = device_end_[static_cast<uint64_t>(line.key.life) << 32 | line.key.number];
    if (start < last) {
      const uint64_t cut = std::min(duration, last - start);
      duration -= cut;
      start = last;
    }
    last = start + duration;
  }
  put(fmt::format(",\n{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}",
                  plain(line.name), line.key.life, track_id(line.key), micros(start), micros(duration),
                  arguments_of(line.name, line.detail, line.unfinished)));
  ++events_;
}

void TraceFile::drain_slot(size_t index) {
  const Slot& slot = region_->slots[index];
  const uint64_t written = slot.events.load(std::memory_order_acquire);
  uint64_t& taken = taken_[index];
  if (written - taken > kEventsPerSlot) {
    lost_ += written - taken - kEventsPerSlot;
    taken = written - kEventsPerSlot;
  }
  const std::string thread = thread_name_of(slot);
  for (; taken < written; ++taken) {
    const Event& event = region_->events[index][taken % kEventsPerSlot];
    const Line line{{},
                    event.start_ns.load(std::memory_order_acquire),
                    event.duration_ns.load(std::memory_order_acquire),
                    event.detail.load(std::memory_order_acquire),
                    unpack(event.what.load(std::memory_order_acquire))};
    // Its writer may have come round while we read: then what we hold is half of one event and half of another.
    if (slot.events.load(kRelaxed) - taken >= kEventsPerSlot) {
      ++lost_;
      continue;
    }
    if (line.key.name >= SpanName::count) continue;
    name_track(line.key, thread);
    Line named = line;
    named.name = fact_of(line.key.name).name;
    write(named);
  }
}

void TraceFile::drain() {
  for (size_t i = 0; i < kSlots; ++i) {
    if (region_->slots[i].used.load(kRelaxed) != 0) drain_slot(i);
  }
}

void TraceFile::write_open(Process process) {
  const uint64_t now = now_ns();
  for (const OpenNow& open : open_spans(*region_, process, now)) {
    EventKey key{SpanName::count, TrackKind::thread, static_cast<uint16_t>(open.life), open.thread};
    name_track(key, open.thread_name);
    write({open.name, now - open.age_ns, open.age_ns, open.detail, key, true});
  }
}

void TraceFile::life_ended() {
  drain();
  write_open(Process::service);
}

Result<void> TraceFile::finish() {
  region_->tracing.store(0, kRelaxed);
  drain();
  write_open(Process::guest);
  if (lost_ != 0) {
    put(
        fmt::format(",\n{{\"ph\":\"i\",\"s\":\"g\",\"name\":\"{} events were lost: they came faster than the file was "
                    "written\",\"pid\":0,\"tid\":0,\"ts\":0}}",
                    lost_));
  }
  put("\n]\n");
  if (std::fflush(file_.get()) != 0 || failed_) {
    return fail(ExitCode::usage, "the trace {} could not be written whole: {}", path_, std::strerror(errno));
  }
  return {};
}

}  // namespace orrery::measure
