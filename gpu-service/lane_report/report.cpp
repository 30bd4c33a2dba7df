#include "gpu-service/lane_report/report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace orrery::lane_report {
namespace {

shader::TranslateOptions options_of(const ComputeProgram& program, const std::array<uint32_t, 3>& group,
                                    const Question& question) {
  shader::TranslateOptions o;
  o.layout.wave = program.wave;
  o.group_size = group;
  o.rsrc1 = program.rsrc1;
  o.rsrc2 = program.rsrc2;
  o.partial_groups = question.partial_groups;
  o.scratch_dwords = program.private_bytes / 4 + (program.private_bytes % 4 != 0);
  o.host.workgroup_memory = question.workgroup_memory;
  o.host.min_subgroup = o.host.max_subgroup = question.subgroup.value_or(0);
  return o;
}

std::string text_of(const std::array<uint32_t, 3>& group) {
  return fmt::format("{}x{}x{}", group[0], group[1], group[2]);
}

}  // namespace

std::string exchange_of(const shader::LaneLayout& layout) {
  if (layout.whole_wave() || layout.exchange == shader::LaneExchange::none) return "none";
  return layout.exchange == shader::LaneExchange::workgroup ? "workgroup memory" : "ballot and shuffle";
}

Row row_of(std::string file, ComputeProgram program, const Question& question) {
  Row row;
  row.file = std::move(file);
  row.group = program.group[0] != 0 ? program.group : question.group_size;
  const std::vector<uint32_t> words = std::move(program.words);
  program.words = {};
  row.program = std::move(program);
  const auto read = shader::read_program([&](uint32_t offset, uint32_t dwords) {
    const auto all = std::span<const uint32_t>(words);
    if (offset / 4 >= all.size()) return std::span<const uint32_t>{};
    return all.subspan(offset / 4, std::min<size_t>(dwords, all.size() - offset / 4));
  });
  if (!read) {
    row.refusals.push_back(read.error());
    return row;
  }
  row.hash = read->hash;
  row.instructions = static_cast<uint32_t>(read->instructions.size());
  shader::TranslateOptions options = options_of(row.program, row.group, question);
  const uint64_t threads = uint64_t{row.group[0]} * row.group[1] * row.group[2];
  if (threads == 0 || threads > 1024) {
    row.reason = fmt::format("a group of {} threads; 1 to 1024 can be", threads);
    return row;
  }
  auto analysis = shader::analyse(*read, options);
  if (!analysis) {
    row.refusals = std::move(analysis.error());
    return row;
  }
  row.needs = analysis->needs;
  row.dispatcher_loop = analysis->dispatcher_loop;
  auto choice = shader::choose_lanes(row.program.wave, analysis->needs, shader::group_shape(options),
                                     shader::host_lanes(options.host));
  if (!choice) {
    row.reason = std::move(choice.error());
    return row;
  }
  row.choice = std::move(*choice);
  row.reason = row.choice->reason;
  options.layout = row.choice->layout;
  auto module = shader::translate(*read, options);
  if (module) {
    row.spirv_words = static_cast<uint32_t>(module->spirv.size());
    row.lds_in_memory = module->lds_in_memory;
  } else {
    row.refusals = std::move(module.error());
  }
  return row;
}

std::string as_table(const std::vector<Row>& rows, const Question& question) {
  std::string out = question.subgroup ? fmt::format("subgroups of {}\n", *question.subgroup)
                                      : std::string("subgroups of unknown width\n");
  out += fmt::format("{:<12}  {:>4}  {:<10}  {:>6}  {:<40}  {:<18}  {:<40}  {}\n", "hash", "wave", "group", "instr.",
                     "layout", "exchange", "needs", "program");
  uint32_t per_lane = 0, whole = 0, refused = 0;
  for (const Row& row : rows) {
    const bool bad = !row.refusals.empty() || !row.choice;
    (bad ? refused : row.choice->layout.whole_wave() ? whole : per_lane) += 1;
    out +=
        fmt::format("{:<12}  {:>4}  {:<10}  {:>6}  {:<40}  {:<18}  {:<40}  {} ({})\n", row.hash.hex().substr(0, 12),
                    row.program.wave, text_of(row.group), row.instructions,
                    row.choice ? row.choice->layout.text() : "none", row.choice ? exchange_of(row.choice->layout) : "",
                    row.needs ? row.needs->text() : "", row.program.name, row.file);
    if (!row.reason.empty()) out += fmt::format("{:14}not per lane: {}\n", "", row.reason);
    if (row.lds_in_memory) out += fmt::format("{:14}LDS in device memory\n", "");
    for (const shader::ShaderRefusal& r : row.refusals) {
      out += fmt::format("{:14}refused at {:#x}: {}: {}\n", "", r.offset, r.mnemonic, r.reason);
    }
  }
  out += fmt::format("{} programs: {} per lane, {} whole wave, {} refused\n", rows.size(), per_lane, whole, refused);
  return out;
}

std::string as_json(const std::vector<Row>& rows, const std::vector<Error>& errors, const Question& question) {
  using nlohmann::json;
  json programs = json::array();
  for (const Row& row : rows) {
    json refusals = json::array();
    for (const shader::ShaderRefusal& r : row.refusals) {
      refusals.push_back({{"offset", r.offset}, {"mnemonic", r.mnemonic}, {"reason", r.reason}});
    }
    json one = {{"file", row.file},
                {"name", row.program.name},
                {"offset", row.program.offset},
                {"hash", row.hash.hex()},
                {"lds_in_memory", row.lds_in_memory},
                {"wave", row.program.wave},
                {"group_size", row.group},
                {"instructions", row.instructions},
                {"spirv_words", row.spirv_words},
                {"dispatcher_loop", row.dispatcher_loop},
                {"needs", row.needs ? json(row.needs->names()) : json(nullptr)},
                {"layout", nullptr},
                {"exchange", nullptr},
                {"lanes_per_invocation", nullptr},
                {"constant_seed", nullptr},
                {"reason", row.reason},
                {"refusals", refusals}};
    if (row.choice) {
      one["layout"] = row.choice->layout.text();
      one["exchange"] = exchange_of(row.choice->layout);
      one["lanes_per_invocation"] = row.choice->layout.k;
      one["constant_seed"] = row.choice->constant_seed;
    }
    programs.push_back(std::move(one));
  }
  json wrong = json::array();
  for (const Error& error : errors) wrong.push_back(error.describe());
  const json whole = {{"subgroup", question.subgroup ? json(*question.subgroup) : json("unknown")},
                      {"programs", programs},
                      {"errors", wrong}};
  // Names come from files: what is no UTF-8 is replaced.
  return whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace orrery::lane_report
