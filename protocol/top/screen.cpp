#include "protocol/top/screen.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace orrery::protocol {
namespace {

using measure::duration_text;

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += c < 0x20 || c > 0x7e || c == '"' || c == '\\' ? '?' : c;
  return out;
}

const measure::SpanSummary* same_in(const Look& look, const measure::SpanSummary& span) {
  const auto found = std::ranges::find_if(
      look.measures.spans, [&](const auto& s) { return s.process == span.process && s.name == span.name; });
  return found == look.measures.spans.end() ? nullptr : &*found;
}

struct Change {
  uint64_t count = 0, total_ns = 0;
};
Change change_of(const Shown& shown, const measure::SpanSummary& span) {
  const auto* before = same_in(shown.before, span);
  if (before == nullptr) return {span.count, span.total_ns};
  return {span.count - std::min(span.count, before->count), span.total_ns - std::min(span.total_ns, before->total_ns)};
}

double rate(uint64_t now, uint64_t before, double seconds) {
  return seconds > 0 && now > before ? static_cast<double>(now - before) / seconds : 0;
}

std::string_view process_text(measure::Process process) { return process == measure::Process::guest ? "guest" : "gpu"; }

}  // namespace

double Shown::seconds() const {
  const uint64_t from = before.measures.taken_ns, to = now.measures.taken_ns;
  return to > from ? static_cast<double>(to - from) / 1e9 : 0;
}

std::optional<Look> look_at(const OutsideView& view) {
  auto measures = measure::snapshot(view.measures());
  if (!measures) return std::nullopt;
  const auto read = [](const std::atomic<uint64_t>& word) { return word.load(std::memory_order_relaxed); };
  const ServiceStatus& s = view.status();
  return Look{std::move(*measures),
              read(s.lives),
              read(s.heartbeat),
              read(view.ledger().entries.first_time),
              read(view.ledger().entries.replayed),
              read(s.dispatches),
              read(s.flips),
              read(s.refusals),
              read(s.escapes),
              read(s.current_sequence)};
}

std::string screen_of(const Shown& shown) {
  const Look& now = shown.now;
  const double seconds = shown.seconds();
  std::string out =
      fmt::format("{}: process {}, {} so far, GPU service life {}{}\n",
                  shown.title.empty() ? "title" : printable(shown.title), shown.pid, duration_text(now.measures.run_ns),
                  now.lives, shown.still() ? fmt::format(", NOT MOVING for {:.1f} s or more", seconds) : "");
  out += fmt::format(
      "flips {} ({:.1f}/s)  dispatches {} ({:.0f}/s)  retired {} ({:.0f}/s), {} replayed  refusals {}  "
      "escapes {}\n\n",
      now.flips, rate(now.flips, shown.before.flips, seconds), now.dispatches,
      rate(now.dispatches, shown.before.dispatches, seconds), now.retired,
      rate(now.retired, shown.before.retired, seconds), now.replayed, now.refusals, now.escapes);
  out += fmt::format("{:<6} {:<22} {:>9} {:>9} {:>7} {:>10} {:>10} {:>10} {:>10}\n", "", "span", "count", "per s",
                     "busy", "mean now", "p50", "p99", "largest");
  for (const auto& span : now.measures.spans) {
    const Change change = change_of(shown, span);
    const double busy = seconds > 0 ? static_cast<double>(change.total_ns) / 1e7 / seconds : 0;
    out += fmt::format("{:<6} {:<22} {:>9} {:>9.0f} {:>6.1f}% {:>10} {:>10} {:>10} {:>10}\n",
                       process_text(span.process), printable(span.name), span.count, rate(change.count, 0, seconds),
                       busy, change.count == 0 ? "-" : duration_text(change.total_ns / change.count),
                       duration_text(span.p50_ns), duration_text(span.p99_ns), duration_text(span.largest_ns));
  }
  out += "\nopen now\n";
  for (size_t i = 0; i < now.measures.open.size();) {
    size_t end = i + 1;
    while (end < now.measures.open.size() && now.measures.open[end].depth != 0) ++end;
    const std::vector<measure::OpenNow> thread(now.measures.open.begin() + static_cast<std::ptrdiff_t>(i),
                                               now.measures.open.begin() + static_cast<std::ptrdiff_t>(end));
    for (const std::string& line : measure::last_words(thread)) {
      out += fmt::format("{:<6} {:<16} {}\n", process_text(thread[0].process), printable(thread[0].thread_name),
                         printable(line));
    }
    i = end;
  }
  if (now.measures.open.empty()) out += "       nothing\n";
  return out;
}

std::string json_of(const Shown& shown) {
  const Look& now = shown.now;
  return fmt::format(
      "{{\"pid\":{},\"title\":\"{}\",\"lives\":{},\"still\":{},\"seconds\":{:.3f},\"flips\":{},\"dispatches\":{},"
      "\"retired\":{},\"replayed\":{},\"refusals\":{},\"escapes\":{},\"current_sequence\":{},\"measures\":{}}}",
      shown.pid, printable(shown.title), now.lives, shown.still(), shown.seconds(), now.flips, now.dispatches,
      now.retired, now.replayed, now.refusals, now.escapes, now.current_sequence, measure::json_of(now.measures));
}

}  // namespace orrery::protocol
