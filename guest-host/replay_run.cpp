#include "guest-host/replay_run.hpp"

#include <fmt/format.h>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "guest-host/capture/replay.hpp"
#include "guest-host/link/run_report.hpp"
#include "shared/measure/snapshot.hpp"
#include "shared/plain_file.hpp"

namespace orrery {
namespace {

constexpr uint64_t kMostArena = 256ull << 30;

}  // namespace

Result<int> run_replay(const CommandLine& line) {
  auto reader = capture::CaptureReader::open(line.title);
  if (!reader) return std::unexpected(std::move(reader.error()));
  const capture::Facts& facts = reader->facts();
  if (facts.arena_size == 0 || facts.arena_size > kMostArena || facts.arena_size % kGuestPage != 0) {
    return fail(ExitCode::file_malformed, "the capture's arena has {} bytes", facts.arena_size);
  }
  auto arena = make_memory_file("orrery-arena", Bytes{facts.arena_size});
  if (!arena) return forward(std::move(arena), "making the guest arena");
  if (line.launcher_fd < 0) return fail(ExitCode::usage, "a replay needs a GPU service: start it by orrery replay");
  link::LinkOptions options;
  options.run = {.headless = line.headless,
                 .logical_clock = true,
                 .keep_frames_directory = line.keep_frames_directory,
                 .keep_every = line.keep_every,
                 .title = facts.title};
  options.trace_file = line.trace_file;
  capture::Audience audience;
  auto link = link::Link::create(UniqueFd(line.launcher_fd), *arena, Bytes{facts.arena_size}, options);
  if (!link) return forward(std::move(link), "joining the launcher");
  const auto result =
      capture::replay(*reader, {line.title, line.replay_steps, line.replay_cut}, *arena, **link, audience);
  if (!result) return std::unexpected(result.error());
  if (!line.replay_report.empty()) {
    const std::string json = capture::json_of(*result, facts) + "\n";
    if (!publish_file(line.replay_report, {std::as_bytes(std::span(json))})) {
      return fail(ExitCode::usage, "cannot write the results {}: {}", line.replay_report, std::strerror(errno));
    }
  }
  if (!line.report.empty()) ORRERY_TRY(link::write_run_report(line.report, (*link)->segment()));
  fmt::print("replay of {}: {}\n", facts.title, capture::words_of(*result));
  if (const std::string refused = (*link)->refusal_summary(); !refused.empty()) {
    fmt::print(stderr, "[guest] refused by the GPU service:\n{}", refused);
  }
  if (const auto measures = measure::snapshot((*link)->segment().measures()); measures && line.spans) {
    fmt::print(stderr, "[guest] spans:\n{}", measure::table_of(*measures));
  }
  std::fflush(nullptr);
  return result->different() == 0 && !result->ended_early ? 0 : 1;
}

}  // namespace orrery
