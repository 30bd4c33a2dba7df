#include "shared/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <cstdlib>

namespace orrery {

void start_log(const std::string& process) {
  auto logger = spdlog::stderr_logger_mt(process);
  const char* wanted = std::getenv("ORRERY_LOG");
  const std::string text = wanted == nullptr ? "warn" : wanted;
  const auto level = spdlog::level::from_str(text);
  logger->set_pattern("[%n] %l: %v");
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(logger);
  // from_str answers "off" for a word that it does not know.
  if (level == spdlog::level::off && text != "off") {
    logger->set_level(spdlog::level::warn);
    logger->warn("ORRERY_LOG={} is no level; use trace, debug, info, warn, error or off", text);
  }
}

}  // namespace orrery
