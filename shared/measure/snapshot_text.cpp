#include <fmt/format.h>

#include "shared/measure/snapshot.hpp"

namespace orrery::measure {
namespace {

std::string_view process_text(Process process) { return process == Process::guest ? "guest" : "gpu"; }

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    // Names may come from a damaged segment, or a title: anything else than plain ASCII is shown as '?'.
    out += c < 0x20 || c > 0x7e ? '?' : c;
  }
  return out + '"';
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view detail_label(std::string_view span) {
  for (const SpanFact& fact : kSpanFacts) {
    if (fact.name == span) return fact.detail;
  }
  return {};
}

}  // namespace

std::string detail_text(std::string_view span, uint64_t detail) {
  const std::string_view label = detail_label(span);
  if (label.empty()) return {};
  const bool address = label == "program" || label == "address";
  return address ? fmt::format("{} {:#x}", label, detail) : fmt::format("{} {}", label, detail);
}

std::string duration_text(uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.3g} us", value / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.3g} ms", value / 1e6);
  return fmt::format("{:.2f} s", value / 1e9);
}

std::vector<std::string> last_words(const std::vector<OpenNow>& open) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < open.size(); ++i) {
    const std::string detail = detail_text(open[i].name, open[i].detail);
    std::string text = fmt::format("{}{} for {}", open[i].name, detail.empty() ? "" : fmt::format(" ({})", detail),
                                   duration_text(open[i].age_ns));
    if (open[i].depth == 0) {
      lines.push_back(std::move(text));
    } else if (!lines.empty()) {
      lines.back() = text + ", in " + lines.back();  // the innermost says most
    }
  }
  return lines;
}

std::string table_of(const Snapshot& snapshot) {
  std::string out = fmt::format("{:<6} {:<24} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "", "span", "count", "total",
                                "p50", "p99", "largest", "of run");
  for (const SpanSummary& span : snapshot.spans) {
    out += fmt::format("{:<6} {:<24} {:>10} {:>10} {:>10} {:>10} {:>10} {:>7.1f}%\n", process_text(span.process),
                       span.name, span.count, duration_text(span.total_ns), duration_text(span.p50_ns),
                       duration_text(span.p99_ns), duration_text(span.largest_ns),
                       100 * share(span.total_ns, snapshot.run_ns));
  }
  for (const CounterValue& counter : snapshot.counters) {
    out += fmt::format("{:<6} {:<24} {:>10}\n", process_text(counter.process), counter.name, counter.value);
  }
  return out + fmt::format("run of {}; spans lie inside each other and on several threads, so shares do not add up\n",
                           duration_text(snapshot.run_ns));
}

std::string json_of(const Snapshot& snapshot) {
  std::string out = fmt::format("{{\"run_ns\":{},\"spans\":[", snapshot.run_ns);
  const char* comma = "";
  for (const SpanSummary& span : snapshot.spans) {
    out += fmt::format(
        "{}{{\"process\":\"{}\",\"name\":{},\"count\":{},\"total_ns\":{},\"p50_ns\":{},\"p99_ns\":{},\"largest_ns\":{},"
        "\"share\":{:.6f}}}",
        comma, process_text(span.process), json_text(span.name), span.count, span.total_ns, span.p50_ns, span.p99_ns,
        span.largest_ns, share(span.total_ns, snapshot.run_ns));
    comma = ",";
  }
  out += "],\"counters\":[";
  comma = "";
  for (const CounterValue& counter : snapshot.counters) {
    out += fmt::format("{}{{\"process\":\"{}\",\"name\":{},\"value\":{}}}", comma, process_text(counter.process),
                       json_text(counter.name), counter.value);
    comma = ",";
  }
  out += "],\"open\":[";
  comma = "";
  for (const OpenNow& open : snapshot.open) {
    out += fmt::format(
        "{}{{\"process\":\"{}\",\"life\":{},\"thread\":{},\"thread_name\":{},\"name\":{},\"detail\":{},\"age_ns\":{},"
        "\"depth\":{}}}",
        comma, process_text(open.process), open.life, open.thread, json_text(open.thread_name), json_text(open.name),
        json_text(detail_text(open.name, open.detail)), open.age_ns, open.depth);
    comma = ",";
  }
  return out + "]}";
}

}  // namespace orrery::measure
