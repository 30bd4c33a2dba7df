// orrery-lanes: which lane layout each compute program of a file gets, without a device.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "gpu-service/lane_report/find_programs.hpp"
#include "gpu-service/lane_report/report.hpp"

namespace orrery::lane_report {
namespace {

int run(int argc, char** argv) {
  CLI::App app(
      "Lists the compute programs of files: how a wave's lanes are laid on the host, how they exchange, why, and what "
      "is refused.",
      "orrery-lanes");
  std::vector<std::string> paths;
  std::string subgroup = "32";
  bool json = false;
  Question question;
  std::vector<uint32_t> group;
  app.add_option("files", paths,
                 "code objects (.co), corpus programs (.json beside .bin), titles' executables, or folders of them")
      ->required();
  app.add_option("--subgroup", subgroup, "the host's subgroup width: 8, 16, 32, 64 or unknown (default 32)")
      ->check(CLI::IsMember({"4", "8", "16", "32", "64", "unknown"}));
  app.add_option("--group", group, "threads of a group X,Y,Z where the file does not say (default 64,1,1)")
      ->delimiter(',')
      ->expected(1, 3)
      ->allow_extra_args(false);
  app.add_option("--workgroup-memory", question.workgroup_memory, "the host's, in bytes (default 65536)");
  app.add_flag("--partial", question.partial_groups, "the last groups are partial");
  app.add_flag("--json", json, "as JSON");
  app.footer(
      "Exit status: 0 listed, refused programs included; 64 usage; 65 no such file; 66 a file that holds no "
      "compute program or is damaged.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;
    app.exit(error);
    return static_cast<int>(asked ? ExitCode::ok : ExitCode::usage);
  }
  question.subgroup = subgroup == "unknown"
                          ? std::nullopt
                          : std::optional(static_cast<uint32_t>(std::strtoul(subgroup.c_str(), nullptr, 10)));
  for (size_t i = 0; i < group.size(); ++i) question.group_size[i] = group[i];
  std::vector<Row> rows;
  std::vector<Error> errors;
  for (const std::string& path : paths) {
    auto found = find_programs(path);
    if (!found) {
      errors.push_back(std::move(found.error()));
      continue;
    }
    for (FoundFile& file : *found) {
      if (!file.programs) {
        errors.push_back(std::move(file.programs.error()));
        continue;
      }
      for (ComputeProgram& program : *file.programs) {
        rows.push_back(row_of(file.path.string(), std::move(program), question));
      }
    }
    if (found->empty()) {
      errors.push_back({ExitCode::file_malformed, path + ": no file in this folder holds a compute program", {}});
    }
  }
  const std::string text = json ? as_json(rows, errors, question) : rows.empty() ? "" : as_table(rows, question);
  std::fwrite(text.data(), 1, text.size(), stdout);
  for (const Error& error : errors) std::fprintf(stderr, "orrery-lanes: %s\n", error.describe().c_str());
  return errors.empty() ? 0 : static_cast<int>(errors.front().code);
}

}  // namespace
}  // namespace orrery::lane_report

int main(int argc, char** argv) {
  try {
    return orrery::lane_report::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "orrery-lanes: %s\n", error.what());
    return static_cast<int>(orrery::ExitCode::internal);
  }
}
