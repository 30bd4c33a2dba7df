#include "protocol/outside_view.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <tuple>

#include "protocol/control_segment.hpp"
#include "protocol/messages.capnp.h"

namespace orrery::protocol {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSegmentName = "/memfd:orrery-control";

std::optional<int> number_in(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

fs::path proc(int pid) { return "/proc/" + std::to_string(pid); }

// The descriptor's path in /proc; empty: that process has none, or it may not be looked at.
fs::path segment_path(int pid) {
  std::error_code error;
  for (fs::directory_iterator at(proc(pid) / "fd", error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (fs::read_symlink(at->path(), ignored).native().starts_with(kSegmentName)) return at->path();
  }
  return {};
}

Result<SegmentDirectory*> read_directory(int fd, uint64_t size, std::span<std::byte> room) {
  if (size < kDirectoryBytes ||
      ::pread(fd, room.data(), kDirectoryBytes, static_cast<off_t>(size - kDirectoryBytes)) != kDirectoryBytes) {
    return fail(ExitCode::protocol_mismatch, "its control segment has no directory");
  }
  auto* const directory = reinterpret_cast<SegmentDirectory*>(room.data());
  if (directory->magic.load() != kDirectoryMagic) {
    return fail(ExitCode::protocol_mismatch, "its control segment has no directory (an older build, or not ready yet)");
  }
  if (directory->protocol_version != wire::PROTOCOL_VERSION) {
    return fail(ExitCode::protocol_mismatch, "it speaks protocol {}, this program {}", directory->protocol_version,
                wire::PROTOCOL_VERSION);
  }
  return directory;
}

Result<Mapping> map_part(const UniqueFd& fd, uint64_t size, const SegmentDirectory& directory, PartName part,
                         uint64_t wanted) {
  const std::string_view name = name_of(part);
  for (const DirectoryEntry& entry : std::span(directory.parts).first(std::min<size_t>(directory.count, 64))) {
    if (std::string_view(entry.name.data(), ::strnlen(entry.name.data(), entry.name.size())) != name) continue;
    if (entry.size < wanted || entry.offset % 4096 != 0 || entry.offset > size || wanted > size - entry.offset) break;
    return Mapping::of(fd, Bytes{entry.offset}, Bytes{wanted}, true);
  }
  return fail(ExitCode::protocol_mismatch, "its control segment has no usable part {}", name);
}

}  // namespace

std::vector<int> running_titles() {
  std::vector<int> found;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const auto pid = number_in(at->path().filename().native());
    struct stat owner{};
    if (!pid || ::stat(at->path().c_str(), &owner) != 0 || owner.st_uid != ::geteuid()) continue;
    // The service holds the segment too.
    std::error_code ignored;
    if (fs::read_symlink(at->path() / "exe", ignored).filename() != "orrery-guest") continue;
    if (!segment_path(*pid).empty()) found.push_back(*pid);
  }
  std::ranges::sort(found);
  return found;
}

Result<OutsideView> OutsideView::open(int pid) {
  OutsideView view;
  view.pid_ = pid;
  view.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!view.pidfd_) return fail(ExitCode::usage, "process {}: {}", pid, std::strerror(errno));
  const fs::path path = segment_path(pid);
  if (path.empty()) return fail(ExitCode::usage, "process {} runs no title of ours", pid);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail(ExitCode::usage, "process {}: {}: {}", pid, path.native(), std::strerror(errno));
  ORRERY_TRY(check_memory_file(fd, Bytes{kDirectoryBytes}));
  struct stat file{};
  if (::fstat(fd.get(), &file) != 0) return fail(ExitCode::internal, "fstat: {}", std::strerror(errno));
  const auto size = static_cast<uint64_t>(file.st_size);
  alignas(64) std::array<std::byte, kDirectoryBytes> room{};
  auto directory = read_directory(fd.get(), size, room);
  if (!directory) return forward(std::move(directory), fmt::format("looking into process {}", pid));
  auto measures = map_part(fd, size, **directory, PartName::measures, sizeof(measure::Region));
  if (!measures) return forward(std::move(measures), fmt::format("looking into process {}", pid));
  auto status = map_part(fd, size, **directory, PartName::status, sizeof(ServiceStatus));
  if (!status) return forward(std::move(status), fmt::format("looking into process {}", pid));
  view.measures_ = std::move(*measures);
  view.status_ = std::move(*status);
  const std::tuple<PartName, uint64_t, Mapping*> more[] = {
      {PartName::ledger, sizeof(Ledger), &view.ledger_},
      {PartName::stretch, sizeof(StretchSlot), &view.stretch_},
      {PartName::quarantine, sizeof(Quarantine), &view.quarantine_},
      {PartName::guest_to_service, sizeof(RingHeader), &view.to_service_},
      {PartName::service_to_guest, sizeof(RingHeader), &view.from_service_}};
  for (const auto& [part, wanted, mapping] : more) {
    auto mapped = map_part(fd, size, **directory, part, wanted);
    if (!mapped) return forward(std::move(mapped), fmt::format("looking into process {}", pid));
    *mapping = std::move(*mapped);
  }
  return view;
}

std::string OutsideView::title() const {
  const auto& text = measures().title;
  return {text.data(), ::strnlen(text.data(), text.size())};
}

bool OutsideView::alive() const {
  pollfd wait{pidfd_.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 0;
}

}  // namespace orrery::protocol
