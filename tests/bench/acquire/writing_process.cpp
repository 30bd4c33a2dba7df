#include "tests/bench/acquire/writing_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <optional>
#include <random>
#include <utility>

namespace orrery::bench {
namespace {

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(ExitCode::internal, "there is no pipe to be had");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<void> show_windows(const UniqueFd& arena, const ArenaShape& shape) {
  auto watch = WriteWatch::open();
  if (!watch) return std::unexpected(std::move(watch.error()));
  for (const auto& window : shape.windows()) {
    void* const wanted = reinterpret_cast<void*>(window.guest_begin);
    void* const got = ::mmap(wanted, window.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, arena.get(),
                             static_cast<off_t>(window.arena_offset));
    if (got != wanted) return fail(ExitCode::internal, "a window can't be shown at {:#x}", window.guest_begin);
    ORRERY_TRY(watch->add({window.guest_begin, window.guest_begin + window.size}));
    std::fill_n(reinterpret_cast<volatile char*>(wanted), window.size, 1);
  }
  // The watch lives as long as the process.
  static std::optional<WriteWatch> kept;
  kept.emplace(std::move(*watch));
  return {};
}

[[noreturn]] void serve(const UniqueFd& arena, const ArenaShape& shape, const UniqueFd& orders,
                        const UniqueFd& answers) {
  std::mt19937 random(7);
  char done = show_windows(arena, shape) ? 1 : 0;
  double percent = 0;
  while (::write(answers.get(), &done, 1) == 1 && ::read(orders.get(), &percent, sizeof percent) == sizeof percent) {
    const auto limit = static_cast<uint64_t>(percent * 42949672.96);
    for (uint64_t at = shape.guest().begin; at < shape.guest().end; at += kHostPage) {
      if (random() >= limit) continue;
      auto* words = reinterpret_cast<volatile uint32_t*>(at);
      for (uint64_t i = 0; i < kHostPage / 4; ++i) words[i] = static_cast<uint32_t>(random.max() - i * at);
    }
  }
  ::_exit(0);
}

}  // namespace

std::vector<protocol::MapEntry> ArenaShape::windows() const {
  std::vector<protocol::MapEntry> all;
  for (uint64_t n = 0; n < pieces; ++n) {
    all.push_back(
        {kBase + n * piece_bytes, piece_bytes, n * stride(), 0x33, static_cast<uint32_t>(protocol::MapKind::direct)});
  }
  return all;
}

Result<WritingProcess> WritingProcess::start(const UniqueFd& arena, const ArenaShape& shape) {
  auto orders = make_pipe(), answers = make_pipe();
  if (!orders) return std::unexpected(std::move(orders.error()));
  if (!answers) return std::unexpected(std::move(answers.error()));
  WritingProcess process;
  process.pid_ = ::fork();
  if (process.pid_ < 0) return fail(ExitCode::internal, "fork failed");
  if (process.pid_ == 0) {
    // It ends when the other end of its orders is closed.
    orders->write = {};
    answers->read = {};
    serve(arena, shape, orders->read, answers->write);
  }
  process.to_ = std::move(orders->write);
  process.from_ = std::move(answers->read);
  answers->write = {};
  char done = 0;
  if (::read(process.from_.get(), &done, 1) != 1 || done != 1) {
    return fail(ExitCode::internal, "the writing process can't have its writes watched");
  }
  return process;
}

WritingProcess::WritingProcess(WritingProcess&& other) noexcept
    : to_(std::move(other.to_)), from_(std::move(other.from_)), pid_(std::exchange(other.pid_, -1)) {}

WritingProcess::~WritingProcess() {
  if (pid_ < 0) return;
  to_ = {};
  ::waitpid(pid_, nullptr, 0);
}

Result<UniqueFd> WritingProcess::pagemap() const {
  UniqueFd pagemap(::open(fmt::format("/proc/{}/pagemap", pid_).c_str(), O_RDONLY | O_CLOEXEC));
  if (!pagemap) return fail(ExitCode::internal, "the writing process's pagemap can't be opened");
  return pagemap;
}

Result<void> WritingProcess::rewrite(double percent) {
  char done = 0;
  if (::write(to_.get(), &percent, sizeof percent) != sizeof percent || ::read(from_.get(), &done, 1) != 1) {
    return fail(ExitCode::internal, "the writing process is gone");
  }
  return {};
}

}  // namespace orrery::bench
