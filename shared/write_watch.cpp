#include "shared/write_watch.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstring>

namespace orrery {
namespace {

// The kernel's interface (include/uapi/linux/fs.h and userfaultfd.h of 6.7); the headers we build with may be older.
struct PageRegion {
  uint64_t start, end, categories;
};
struct ScanArgument {
  uint64_t size, flags, start, end, walk_end, regions, most_regions, most_pages;
  uint64_t inverted, mask, any_of, returned;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArgument);
constexpr uint64_t kIsWritten = 1u << 1;
constexpr uint64_t kProtectMatching = 1u << 0, kCheckRegistered = 1u << 1;
constexpr int kUserModeOnly = 1;
constexpr uint64_t kSharedMemory = 1u << 12, kUnpopulated = 1u << 13, kAsynchronous = 1u << 15;

constexpr size_t kRegionsAtOnce = 2048;

std::unexpected<Error> refused(const char* what) {
  return fail(ExitCode::internal, "{} failed: {}", what, std::strerror(errno));
}

}  // namespace

Result<WriteWatch> WriteWatch::open() {
  // The kernel never waits for a handler here, so that the restricted kind, which every user may have, does the same.
  UniqueFd userfault(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly)));
  if (!userfault) {
    return fail(ExitCode::internal, "userfaultfd is not to be had ({}; a container's seccomp filter?)",
                std::strerror(errno));
  }
  uffdio_api wanted{UFFD_API, kSharedMemory | kUnpopulated | kAsynchronous, 0};
  if (::ioctl(userfault.get(), UFFDIO_API, &wanted) != 0) {
    return fail(ExitCode::internal,
                "this kernel's userfaultfd has no asynchronous write-protection ({}; Linux 6.7 has)",
                std::strerror(errno));
  }
  return WriteWatch(std::move(userfault));
}

Result<void> WriteWatch::add(AddressRange mapping) const {
  uffdio_register wanted{{mapping.begin, mapping.end - mapping.begin}, UFFDIO_REGISTER_MODE_WP, 0};
  if (::ioctl(userfault_.get(), UFFDIO_REGISTER, &wanted) != 0) {
    return fail(ExitCode::internal, "writes to {:#x}..{:#x} can't be watched: {}", mapping.begin, mapping.end,
                std::strerror(errno));
  }
  return {};
}

Result<UniqueFd> WriteWatch::pagemap() const {
  UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!pagemap) return refused("opening /proc/self/pagemap");
  return pagemap;
}

Result<WriteScan> WriteScan::open(UniqueFd pagemap) {
  // An empty range asks only whether the descriptor and the kernel know the call.
  ScanArgument nothing{};
  nothing.size = sizeof nothing;
  nothing.mask = nothing.returned = kIsWritten;
  if (::ioctl(pagemap.get(), kPagemapScan, &nothing) != 0) {
    return fail(ExitCode::internal, "PAGEMAP_SCAN is not to be had ({}; Linux 6.7 has it)", std::strerror(errno));
  }
  return WriteScan(std::move(pagemap));
}

Result<void> WriteScan::arm(AddressRange range) const {
  ScanArgument scan{};
  scan.size = sizeof scan;
  scan.flags = kProtectMatching | kCheckRegistered;
  scan.start = range.begin;
  scan.end = range.end;
  scan.mask = kIsWritten;
  if (::ioctl(pagemap_.get(), kPagemapScan, &scan) < 0) return refused("arming write tracking by PAGEMAP_SCAN");
  return {};
}

Result<void> WriteScan::harvest(AddressRange range, std::vector<AddressRange>& written, bool rearm) const {
  std::array<PageRegion, kRegionsAtOnce> regions;
  ScanArgument scan{};
  scan.size = sizeof scan;
  scan.flags = rearm ? kProtectMatching | kCheckRegistered : kCheckRegistered;
  scan.end = range.end;
  scan.regions = reinterpret_cast<uint64_t>(regions.data());
  scan.most_regions = regions.size();
  scan.mask = scan.returned = kIsWritten;
  for (uint64_t at = range.begin; at < range.end; at = scan.walk_end) {
    scan.start = at;
    scan.walk_end = 0;
    const int found = ::ioctl(pagemap_.get(), kPagemapScan, &scan);
    if (found < 0) return refused("harvesting written pages by PAGEMAP_SCAN");
    for (const PageRegion& region : std::span(regions).first(static_cast<size_t>(found))) {
      if (!written.empty() && written.back().end == region.start) {
        written.back().end = region.end;
      } else {
        written.push_back({region.start, region.end});
      }
    }
    if (scan.walk_end <= at) break;
  }
  return {};
}

Result<void> probe_write_watch() {
  auto file = make_memory_file("orrery-write-probe", {kHostPage});
  if (!file) return std::unexpected(std::move(file.error()));
  auto page = Mapping::of(*file, {0}, {kHostPage});
  if (!page) return std::unexpected(std::move(page.error()));
  auto watch = WriteWatch::open();
  if (!watch) return std::unexpected(std::move(watch.error()));
  const auto begin = reinterpret_cast<uint64_t>(page->data());
  const AddressRange range{begin, begin + kHostPage};
  ORRERY_TRY(watch->add(range));
  auto pagemap = watch->pagemap();
  if (!pagemap) return std::unexpected(std::move(pagemap.error()));
  auto scan = WriteScan::open(std::move(*pagemap));
  if (!scan) return std::unexpected(std::move(scan.error()));
  std::vector<AddressRange> written;
  auto* const byte = reinterpret_cast<volatile std::byte*>(page->data());
  for (const bool write : {true, false}) {
    ORRERY_TRY(scan->arm(range));
    if (write) *byte = std::byte{1};
    written.clear();
    ORRERY_TRY(scan->harvest(range, written));
    if (written.empty() == write) {
      return fail(ExitCode::internal, "the kernel {} a write to an armed page", write ? "missed" : "invented");
    }
  }
  return {};
}

}  // namespace orrery
