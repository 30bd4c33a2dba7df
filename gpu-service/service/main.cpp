#include <malloc.h>

#include <cstdio>
#include <exception>

#include "gpu-service/service/start.hpp"
#include "gpu-service/service/watch.hpp"
#include "shared/log.hpp"

int main(int argc, char** argv) {
  using namespace orrery;
  service::block_signals();
  // Translations need the same few megabytes again and again: faulting them in anew was a third of their time.
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  const auto parsed = service::parse_options(argc, argv);
  if (parsed.exit) return *parsed.exit;
  start_log("gpu");
  try {
    return service::tell_end(parsed.options.list_devices ? service::print_devices(parsed.options)
                                                         : service::start(parsed.options));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "orrery-gpu: %s\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
