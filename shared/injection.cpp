#include "shared/injection.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "shared/log.hpp"

namespace orrery::injection {
namespace {

struct Planned {
  std::string point, deed;
  uint64_t count = 1;
};
std::vector<Planned> planned;  // of this life
std::mutex passing;

uint64_t number_in(std::string_view text, uint64_t otherwise) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

void plan(std::string_view item, uint32_t life) {
  const size_t equals = item.find('=');
  if (equals == std::string_view::npos) return;
  std::string_view point = item.substr(0, equals);
  uint64_t wanted = 1;
  if (const size_t slash = point.find('/'); point.starts_with("life") && slash != std::string_view::npos) {
    wanted = point.substr(4, slash - 4) == "*" ? life : number_in(point.substr(4, slash - 4), 0);
    point.remove_prefix(slash + 1);
  }
  if (wanted != life) return;
  Planned made;
  made.deed = item.substr(equals + 1);
  if (const size_t colon = point.find(':'); colon != std::string_view::npos) {
    made.count = number_in(point.substr(colon + 1), 1);
    point = point.substr(0, colon);
  }
  made.point = point;
  planned.push_back(made);
}

// SIGSEGV and SIGABRT end the process whatever handles or blocks them.
[[noreturn]] void die_by(int number) {
  ::signal(number, SIG_DFL);
  ::raise(number);
  ::_exit(1);
}

bool act(const std::string& deed) {
  if (deed == "kill") die_by(SIGKILL);
  if (deed == "segv") die_by(SIGSEGV);
  if (deed == "abort") die_by(SIGABRT);
  if (deed == "stop") ::raise(SIGSTOP);
  while (deed == "hang") ::pause();
  if (deed == "oom") {
    // From here on no memory is to be had.
    const rlimit none{1, 1};
    ::setrlimit(RLIMIT_AS, &none);
  }
  return deed == "fail";
}

}  // namespace

bool active = false;

void start(uint32_t life) {
  const char* text = std::getenv("ORRERY_INJECT");
  if (text == nullptr) return;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = rest.find(',');
    plan(rest.substr(0, comma), life);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  active = !planned.empty();
}

bool slow_point(std::string_view name) {
  std::string deed;
  {
    const std::lock_guard lock(passing);
    for (Planned& each : planned) {
      if (each.point != name || each.count == 0) continue;
      each.count -= 1;
      if (each.count == 0) deed = each.deed;
    }
  }
  if (deed.empty()) return false;
  log::warn("injected at {}: {}", name, deed);
  return act(deed);
}

}  // namespace orrery::injection
