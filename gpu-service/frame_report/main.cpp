// orrery-frames: compares the kept frames of two runs. Exit status 0: the same, 1: different.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <iostream>

#include "gpu-service/frame_report/compare.hpp"

int main(int argc, char** argv) {
  using namespace orrery;
  std::string first, second, out = "frames-diff";
  bool json = false;
  CLI::App app{"Says which flips of two runs differ, and writes the difference of kept frames as pictures."};
  app.name("orrery frames-diff");
  app.add_option("--out", out, "folder for the difference images (default frames-diff)");
  app.add_flag("--json", json, "for programs");
  app.add_option("A", first, "folder of --keep-frames")->required();
  app.add_option("B", second, "folder of --keep-frames")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "[orrery] {} (orrery frames-diff --help shows the options)\n", error.what());
    return static_cast<int>(ExitCode::usage);
  }
  try {
    const auto compared = frame_report::compare_folders(first, second, out);
    if (!compared) {
      fmt::print(stderr, "[orrery] {}\n", compared.error().describe());
      return static_cast<int>(compared.error().code);
    }
    std::cout << (json ? frame_report::json_of(*compared) : frame_report::text_of(*compared));
    return compared->equal() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "[orrery] {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
