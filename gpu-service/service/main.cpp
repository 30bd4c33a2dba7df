#include <cstdio>
#include <exception>

#include "gpu-service/service/start.hpp"
#include "gpu-service/service/watch.hpp"
#include "shared/log.hpp"

int main(int argc, char** argv) {
  using namespace orrery;
  service::block_signals();
  const auto parsed = service::parse_options(argc, argv);
  if (parsed.exit) return *parsed.exit;
  start_log("gpu");
  try {
    const auto ended =
        parsed.options.list_devices ? service::print_devices(parsed.options) : service::start(parsed.options);
    if (ended) return 0;
    // The guest process's end is no news of ours.
    if (ended.error().code == ExitCode::peer_gone) {
      log::info("{}", ended.error().describe());
    } else {
      std::fprintf(stderr, "orrery-gpu: %s\n", ended.error().describe().c_str());
    }
    return static_cast<int>(ended.error().code);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "orrery-gpu: %s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
