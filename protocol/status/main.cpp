#include <CLI/CLI.hpp>
#include <cstdio>

#include "protocol/status/status_text.hpp"

int main(int argc, char** argv) {
  using namespace orrery;
  CLI::App app("Says what the GPU service of each running title does.", "orrery gpu status");
  int pid = 0;
  app.add_option("--pid", pid, "the title's process alone");
  CLI11_PARSE(app, argc, argv);
  const std::vector<int> titles = pid != 0 ? std::vector<int>{pid} : protocol::running_titles();
  if (titles.empty()) {
    std::fprintf(stderr, "[orrery] no title runs\n");
    return static_cast<int>(ExitCode::usage);
  }
  int code = 0;
  for (const int title : titles) {
    const auto view = protocol::OutsideView::open(title);
    if (!view) {
      std::fprintf(stderr, "[orrery] %s\n", view.error().describe().c_str());
      code = static_cast<int>(view.error().code);
      continue;
    }
    std::fputs(protocol::status_text(*view).c_str(), stdout);
  }
  return code;
}
