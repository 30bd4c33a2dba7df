#include "tests/bench/kernels/report.hpp"

#include <fmt/format.h>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace orrery::bench {
namespace {

const Contender* twin(const Measured& m, std::string_view label) {
  for (const Contender& c : m.twins) {
    if (c.label == label && c.time.median > 0) return &c;
  }
  return nullptr;
}

std::string ratio_text(const Contender& ours, const Contender* to) {
  return to == nullptr || ours.time.median <= 0 ? "-" : fmt::format("{:.2f}", ours.time.median / to->time.median);
}

nlohmann::json json_of(const Contender& c) {
  nlohmann::json out{{"label", c.label}};
  if (!c.refusal.empty()) {
    out["refusal"] = c.refusal;
    return out;
  }
  out["ns"] = {{"median", c.time.median}, {"quartiles", {c.time.low, c.time.high}}};
  out["differs"] = c.differs;
  out["compile_ms"] = c.compile_ms;
  out["spirv_words"] = c.words;
  if (c.instructions != 0) {
    out["translate_us"] = c.translate_us;
    out["instructions"] = c.instructions;
    out["bound_buffers"] = c.bound_buffers;
    out["page_table"] = c.page_table;
    out["scratch"] = c.scratch;
    out["parts"] = c.parts;
  }
  return out;
}

}  // namespace

const char* name_of(MemoryPlace place) { return place == MemoryPlace::device ? "device" : "imported"; }

std::string table_head() {
  return fmt::format("{:<17}{:>5} {:<9}{:<7}{:>5} {:>5} {:>7} {:>7} {:>9} {:>6} {:>9} {:>6} {:>7} {:>4}  {}\n",
                     "kernel", "wave", "memory", "layout", "instr", "w/ins", "comp ms", "glsl ms", "ours us", "iqr%",
                     "glsl us", "ratio", "native", "rep", "notes");
}

std::string table_line(const Measured& m) {
  std::string out;
  const Contender *glsl = twin(m, "glsl"), *native = twin(m, "native");
  for (const Contender& c : m.ours) {
    out += fmt::format("{:<17}{:>5} {:<9}{:<7}", m.name, m.wave, name_of(m.place), c.label);
    if (!c.refusal.empty()) {
      out += c.refusal + "\n";
      continue;
    }
    const double median = c.time.median;
    out += fmt::format("{:>5} {:>5.1f} {:>7.1f} {:>7} {:>9.1f} {:>6.1f} {:>9} {:>6} {:>7} {:>4}  {}{}{}{}\n",
                       c.instructions, static_cast<double>(c.words) / c.instructions, c.compile_ms,
                       glsl == nullptr ? "-" : fmt::format("{:.1f}", glsl->compile_ms), median / 1e3,
                       median > 0 ? (c.time.high - c.time.low) / median * 100 : 0.0,
                       glsl == nullptr ? "-" : fmt::format("{:.1f}", glsl->time.median / 1e3), ratio_text(c, glsl),
                       ratio_text(c, native), m.repeats, c.bound_buffers != 0 ? "bound " : "",
                       c.page_table ? "paged " : "", c.scratch ? "scratch " : "",
                       c.differs.empty() ? "" : "DIFFERS: " + c.differs);
  }
  for (const Contender& c : m.twins) {
    if (!c.refusal.empty()) out += fmt::format("{:<17}{:>5} {}: {}\n", m.name, m.wave, c.label, c.refusal);
    if (!c.differs.empty()) out += fmt::format("{:<17}{:>5} {} DIFFERS: {}\n", m.name, m.wave, c.label, c.differs);
  }
  if (m.twins.empty()) out += fmt::format("{:<17}{:>5} has no GLSL twin\n", m.name, m.wave);
  return out;
}

std::string summary(std::span<const Measured> all) {
  struct Sum {
    double logs = 0;
    uint32_t count = 0;
    std::string worst;
    std::string above;
    double most = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Measured& m : all) {
    for (const Contender& c : m.ours) {
      for (const char* label : {"glsl", "native"}) {
        const Contender* to = twin(m, label);
        if (to == nullptr && label[0] == 'n') to = twin(m, "glsl");  // nothing to expand: the same program
        if (to == nullptr || c.time.median <= 0) continue;
        const double ratio = c.time.median / to->time.median;
        Sum& sum = sums[fmt::format("wave{} {} {} against {}", m.wave, name_of(m.place), c.label, label)];
        sum.logs += std::log(ratio);
        ++sum.count;
        if (ratio > sum.most) sum.most = ratio, sum.worst = m.name;
        if (ratio > 1.5) sum.above += fmt::format(" {} {:.2f}", m.name, ratio);
      }
    }
  }
  std::string out;
  for (const auto& [what, sum] : sums) {
    out += fmt::format("{}: geometric mean {:.3f} of {} kernels, largest {:.2f} ({})\n", what,
                       std::exp(sum.logs / sum.count), sum.count, sum.most, sum.worst);
    if (!sum.above.empty()) out += "  above 1.5:" + sum.above + "\n";
  }
  return out;
}

std::string json_text(const vulkan::DeviceFacts& facts, std::span<const Measured> all) {
  nlohmann::json out{{"device", facts.name}, {"driver", facts.driver}, {"kernels", nlohmann::json::array()}};
  for (const Measured& m : all) {
    nlohmann::json one{{"name", m.name},
                       {"wave", m.wave},
                       {"memory", name_of(m.place)},
                       {"n", m.n},
                       {"bytes", m.bytes},
                       {"repeats", m.repeats},
                       {"ours", nlohmann::json::array()},
                       {"twins", nlohmann::json::array()}};
    for (const Contender& c : m.ours) one["ours"].push_back(json_of(c));
    for (const Contender& c : m.twins) one["twins"].push_back(json_of(c));
    out["kernels"].push_back(std::move(one));
  }
  out["summary"] = summary(all);
  return out.dump(1) + "\n";
}

}  // namespace orrery::bench
