#include "guest-host/memory/guest_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <mutex>

#if defined(__SANITIZE_ADDRESS__)
// Guest addresses lie in what AddressSanitizer calls the shadow gap; it must leave it to us.
extern "C" const char* __asan_default_options() { return "protect_shadow_gap=0"; }
#endif

namespace orrery::memory {

namespace {

constexpr uint64_t kMaxOneMap = 1ull << 40;

// Arena bytes that nobody uses any more: the host gets them back, and they read as zero when allocated again.
void punch_hole(int fd, ArenaOffset offset, Bytes size) {
  ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset.value),
              static_cast<off_t>(size.value));
}

void* host_pointer(GuestAddress address) { return reinterpret_cast<void*>(address.value); }

// Whether the arena bytes of a window were allocated by map (and not as direct memory).
bool internal_kind(const Window& window) { return !window.reserved && window.kind != MapKind::direct; }

}  // namespace

int host_protection(uint32_t guest_protection) {
  int host = PROT_NONE;
  if (guest_protection & kCpuRead) host |= PROT_READ;
  // x86 has no pages that can be written or executed but not read.
  if (guest_protection & kCpuWrite) host |= PROT_READ | PROT_WRITE;
  if (guest_protection & kCpuExecute) host |= PROT_READ | PROT_EXEC;
  return host;
}

GuestLayout GuestLayout::standard() {
#if defined(__SANITIZE_ADDRESS__)
  // AddressSanitizer keeps the shadow of its gap in the first 257 GiB.
  constexpr uint64_t kShift = 0x50'0000'0000;
#else
  constexpr uint64_t kShift = 0;
#endif
  return {.image = {0x4'0000'0000 + kShift},
          .anywhere = {0x2'0000'0000 + kShift},
          .internal = {0x60'0000'0000},
          .end = {1ull << 40}};
}

Result<std::unique_ptr<GuestMemory>> GuestMemory::create(Bytes arena_size, GuestLayout layout) {
  constexpr uint64_t kLeast = 64ull << 20, kMost = 256ull << 30;
  if (arena_size.value < kLeast || arena_size.value > kMost || arena_size.value % (4 * kGuestPage) != 0) {
    return fail(ExitCode::usage, "the arena's size must be between 64 MiB and 256 GiB and a multiple of 64 KiB, not {}",
                arena_size.value);
  }
  auto arena = make_memory_file("orrery-arena", arena_size);
  if (!arena) return forward(std::move(arena), "making the guest arena");
  return std::unique_ptr<GuestMemory>(new GuestMemory(std::move(*arena), arena_size, layout));
}

GuestMemory::GuestMemory(UniqueFd arena, Bytes arena_size, GuestLayout layout)
    : arena_(std::move(arena)),
      arena_size_(arena_size),
      direct_size_{arena_size.value / 4 * 3},
      layout_(layout),
      direct_(0, direct_size_.value),
      internal_(direct_size_.value, arena_size.value) {}

GuestMemory::~GuestMemory() {
  for (const auto& [begin, window] : windows_) {
    if (!window.reserved) ::munmap(host_pointer(window.begin), window.size.value);
  }
}

std::optional<ArenaOffset> GuestMemory::allocate_direct(ArenaOffset search_begin, ArenaOffset search_end, Bytes size,
                                                        Bytes alignment) {
  if (size.value > direct_size_.value) return {};
  std::unique_lock lock(mutex_);
  const auto place = direct_.allocate(search_begin.value, search_end.value, align_up(size.value, kGuestPage),
                                      std::max(alignment.value, kGuestPage));
  if (!place) return {};
  return ArenaOffset{*place};
}

std::vector<std::pair<GuestAddress, Bytes>> GuestMemory::windows_of(ArenaOffset offset, Bytes size) const {
  std::vector<std::pair<GuestAddress, Bytes>> found;
  const ArenaOffset end = offset + size;
  for (const auto& [begin, window] : windows_) {
    if (window.reserved || window.kind != MapKind::direct) continue;
    const ArenaOffset low = std::max(window.offset, offset);
    const ArenaOffset high = std::min(window.offset + window.size, end);
    if (low < high) found.emplace_back(window.begin + (low - window.offset), high - low);
  }
  return found;
}

Result<void> GuestMemory::release_direct(ArenaOffset offset, Bytes size) {
  if (settle_ && size <= arena_size_ && offset.value <= arena_size_.value) {
    std::vector<std::pair<GuestAddress, Bytes>> shown;
    {
      std::shared_lock lock(mutex_);
      shown = windows_of(offset, size);
    }
    for (const auto& [begin, bytes] : shown) settled(begin, bytes, Settle::change);
  }
  std::unique_lock lock(mutex_);
  if (offset.value % kGuestPage != 0 || size.value % kGuestPage != 0 || !direct_.allocated(offset.value, size.value)) {
    return fail(ExitCode::guest_fault, "direct memory {:#x}+{:#x} is not allocated", offset.value, size.value);
  }
  const auto gone = windows_of(offset, size);
  for (const auto& [begin, bytes] : gone) ORRERY_TRY(clear_range(begin, bytes));
  direct_.release(offset.value, size.value);
  discard(offset, size);
  return gone.empty() ? Result<void>{} : changed_map();
}

std::optional<Range> GuestMemory::largest_free_direct(ArenaOffset search_begin, ArenaOffset search_end,
                                                      Bytes alignment) const {
  std::shared_lock lock(mutex_);
  return direct_.largest_free(search_begin.value, search_end.value, std::max(alignment.value, kGuestPage));
}

Bytes GuestMemory::flexible_free() const {
  std::shared_lock lock(mutex_);
  return {internal_.free_bytes()};
}

Result<GuestAddress> GuestMemory::choose_place(Bytes size, GuestAddress wish, Bytes alignment, MapKind kind) const {
  GuestAddress start = layout_.anywhere;
  if (kind == MapKind::image) start = layout_.image;
  if (kind == MapKind::stack || kind == MapKind::heap) start = layout_.internal;
  if (wish.value != 0 && wish < layout_.end) start = wish;
  uint64_t place = align_up(start.value, alignment.value);
  auto it = windows_.upper_bound(place);
  if (it != windows_.begin()) it = std::prev(it);
  for (; it != windows_.end(); ++it) {
    const Window& window = it->second;
    if (window.end().value <= place) continue;
    if (window.begin.value >= place + size.value) break;
    place = align_up(window.end().value, alignment.value);
  }
  if (place >= layout_.end.value || size.value > layout_.end.value - place) {
    return fail(ExitCode::guest_fault, "no room for {:#x} bytes in the guest's address space from {:#x} on", size.value,
                start.value);
  }
  return GuestAddress{place};
}

bool GuestMemory::overlaps(GuestAddress begin, Bytes size) const {
  auto it = windows_.lower_bound(begin.value);
  if (it != windows_.end() && it->second.begin < begin + size) return true;
  return it != windows_.begin() && std::prev(it)->second.end() > begin;
}

Result<GuestAddress> GuestMemory::map(const MapRequest& request) {
  const Bytes size{align_up(request.size.value, kGuestPage)};
  const uint64_t alignment = std::max(request.alignment.value, kGuestPage);
  if (request.size.value == 0 || request.size.value > kMaxOneMap || (alignment & (alignment - 1)) != 0 ||
      alignment > kMaxOneMap || request.address.value % kGuestPage != 0) {
    return fail(ExitCode::guest_fault, "cannot map {:#x} bytes at {:#x} aligned to {:#x}", request.size.value,
                request.address.value, request.alignment.value);
  }
  if (request.fixed && !request.keep_existing) settled(request.address, size, Settle::change);
  std::unique_lock lock(mutex_);
  GuestAddress place = request.address;
  if (!request.fixed) {
    auto chosen = choose_place(size, request.address, {alignment}, request.kind);
    if (!chosen) return chosen;
    place = *chosen;
  } else if (place.value == 0 || place >= layout_.end || size > layout_.end - place) {
    return fail(ExitCode::guest_fault, "{:#x}+{:#x} is outside the guest's address space", place.value, size.value);
  }
  if (request.fixed && request.keep_existing && overlaps(place, size)) {
    return fail(ExitCode::guest_fault, "{:#x}+{:#x} is mapped already", place.value, size.value);
  }
  Window window{.begin = place,
                .size = size,
                .offset = {},
                .protection = request.protection,
                .kind = request.kind,
                .reserved = false,
                .name = request.name};
  if (request.offset) {
    if (request.kind != MapKind::direct || request.offset->value % kGuestPage != 0 ||
        !direct_.allocated(request.offset->value, size.value)) {
      return fail(ExitCode::guest_fault, "direct memory {:#x}+{:#x} is not allocated", request.offset->value,
                  size.value);
    }
    window.offset = *request.offset;
  } else {
    const auto offset = internal_.allocate(direct_size_.value, arena_size_.value, size.value, kGuestPage);
    if (!offset) return fail(ExitCode::guest_fault, "the arena has no {:#x} bytes left; see --arena-size", size.value);
    window.offset = {*offset};
  }
  if (request.fixed) {
    if (auto cleared = clear_range(place, size); !cleared) {
      give_back(window);
      return std::unexpected(std::move(cleared.error()));
    }
  }
  void* const got =
      ::mmap(host_pointer(place), size.value, host_protection(request.protection),
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, arena_.get(), static_cast<off_t>(window.offset.value));
  if (got != host_pointer(place)) {
    const int why = errno;
    if (got != MAP_FAILED) ::munmap(got, size.value);
    give_back(window);
    return fail(ExitCode::guest_fault, "the host cannot map {:#x}+{:#x}: {}", place.value, size.value,
                std::strerror(why));
  }
  windows_[place.value] = window;
  Result<void> done;
  if (watch_) done = watch_->add({place.value, window.end().value});
  if (faults_ != nullptr) {
    const auto change = faults_->changing();
    faults_->window_shown(place.value, window.end().value, host_protection(window.protection));
  }
  if (reports_ != nullptr) reports_->report(protocol::ReportKind::changed, window.offset, size);
  if (done) done = changed_map();
  if (!done) {
    // Too many entries: the map stays as it was before.
    ORRERY_TRY(clear_range(place, size));
    return std::unexpected(std::move(done.error()));
  }
  return place;
}

Result<GuestAddress> GuestMemory::reserve(Bytes wanted, GuestAddress wish, bool fixed, Bytes alignment_wish) {
  const Bytes size{align_up(wanted.value, kGuestPage)};
  const uint64_t alignment = std::max(alignment_wish.value, kGuestPage);
  if (wanted.value == 0 || wanted.value > kMaxOneMap || wish.value % kGuestPage != 0 ||
      (alignment & (alignment - 1)) != 0 || alignment > kMaxOneMap) {
    return fail(ExitCode::guest_fault, "cannot reserve {:#x} bytes at {:#x}", wanted.value, wish.value);
  }
  std::unique_lock lock(mutex_);
  GuestAddress place = wish;
  if (!fixed) {
    auto chosen = choose_place(size, wish, {alignment}, MapKind::other);
    if (!chosen) return chosen;
    place = *chosen;
  } else if (place.value == 0 || place >= layout_.end || size > layout_.end - place || overlaps(place, size)) {
    return fail(ExitCode::guest_fault, "{:#x}+{:#x} cannot be reserved: mapped already or outside", place.value,
                size.value);
  }
  windows_[place.value] = {.begin = place,
                           .size = size,
                           .offset = {},
                           .protection = 0,
                           .kind = MapKind::other,
                           .reserved = true,
                           .name = {}};
  return place;
}

void GuestMemory::give_back(const Window& window) {
  if (!internal_kind(window)) return;
  internal_.release(window.offset.value, window.size.value);
  discard(window.offset, window.size);
}

void GuestMemory::discard(ArenaOffset offset, Bytes size) {
  punch_hole(arena_.get(), offset, size);
  if (reports_ != nullptr) reports_->report(protocol::ReportKind::discarded, offset, size);
}

void GuestMemory::watch_by_faults(FaultWatch& watch) {
  const std::unique_lock lock(mutex_);
  faults_ = &watch;
  const auto change = watch.changing();
  for (const auto& [begin, window] : windows_) {
    if (!window.reserved) watch.window_shown(begin, window.end().value, host_protection(window.protection));
  }
}

void GuestMemory::arm(GuestAddress begin, GuestAddress end) {
  const std::unique_lock lock(mutex_);
  if (faults_ == nullptr) return;
  auto it = windows_.upper_bound(begin.value);
  if (it != windows_.begin()) it = std::prev(it);
  for (; it != windows_.end() && it->second.begin < end; ++it) {
    const Window& window = it->second;
    const GuestAddress low = std::max(begin, window.begin), high = std::min(end, window.end());
    if (!window.reserved && low < high) faults_->arm(low.value, high.value);
  }
}

Result<void> GuestMemory::watch_writes(WriteWatch watch) {
  const std::unique_lock lock(mutex_);
  for (const auto& [begin, window] : windows_) {
    if (!window.reserved) ORRERY_TRY(watch.add({begin, window.end().value}));
  }
  watch_.emplace(std::move(watch));
  return {};
}

// Removes windows and parts of windows; the host's mapping goes too.
Result<void> GuestMemory::clear_range(GuestAddress begin, Bytes size) {
  const GuestAddress end = begin + size;
  auto it = windows_.upper_bound(begin.value);
  if (it != windows_.begin()) it = std::prev(it);
  while (it != windows_.end() && it->second.begin < end) {
    const Window window = it->second;
    if (window.end() <= begin) {
      ++it;
      continue;
    }
    const GuestAddress low = std::max(begin, window.begin), high = std::min(end, window.end());
    if (!window.reserved) {
      const auto change = faults_ != nullptr ? faults_->changing() : FaultWatch::Change();
      if (::munmap(host_pointer(low), (high - low).value) != 0) {
        return fail(ExitCode::internal, "munmap of {:#x}+{:#x} failed: {}", low.value, (high - low).value,
                    std::strerror(errno));
      }
      if (faults_ != nullptr) faults_->window_gone(low.value, high.value);
    }
    it = windows_.erase(it);
    Window gone = window;
    gone.begin = low;
    gone.size = high - low;
    gone.offset = window.offset + (low - window.begin);
    give_back(gone);
    if (window.begin < low) {
      Window left = window;
      left.size = low - window.begin;
      windows_[left.begin.value] = left;
    }
    if (high < window.end()) {
      Window right = window;
      right.begin = high;
      right.size = window.end() - high;
      right.offset = window.offset + (high - window.begin);
      windows_[right.begin.value] = right;
      it = windows_.end();
    }
  }
  return {};
}

Result<void> GuestMemory::unmap(GuestAddress begin, Bytes size) {
  if (begin.value % kGuestPage != 0 || size.value == 0 || begin >= layout_.end || size > layout_.end - begin) {
    return fail(ExitCode::guest_fault, "cannot unmap {:#x}+{:#x}", begin.value, size.value);
  }
  settled(begin, {align_up(size.value, kGuestPage)}, Settle::change);
  std::unique_lock lock(mutex_);
  ORRERY_TRY(clear_range(begin, {align_up(size.value, kGuestPage)}));
  return changed_map();
}

Result<void> GuestMemory::protect(GuestAddress begin, Bytes wanted, uint32_t protection) {
  // As the console does, the range grows to whole pages.
  const GuestAddress first{align_down(begin.value, kGuestPage)};
  if (wanted.value == 0 || begin >= layout_.end || wanted > layout_.end - begin) {
    return fail(ExitCode::guest_fault, "cannot protect {:#x}+{:#x}", begin.value, wanted.value);
  }
  const GuestAddress end{align_up((begin + wanted).value, kGuestPage)};
  settled(first, end - first, Settle::change);
  std::unique_lock lock(mutex_);
  std::vector<Window> touched;
  GuestAddress reached = first;
  auto it = windows_.upper_bound(first.value);
  if (it != windows_.begin()) it = std::prev(it);
  for (; it != windows_.end() && it->second.begin < end; ++it) {
    const Window& window = it->second;
    if (window.end() <= first) continue;
    if (window.reserved || window.begin > reached) break;
    touched.push_back(window);
    reached = window.end();
  }
  if (reached < end) return fail(ExitCode::guest_fault, "{:#x} is not mapped and cannot be protected", reached.value);
  {
    const auto change = faults_ != nullptr ? faults_->changing() : FaultWatch::Change();
    if (::mprotect(host_pointer(first), (end - first).value, host_protection(protection)) != 0) {
      return fail(ExitCode::internal, "mprotect of {:#x}+{:#x} failed: {}", first.value, (end - first).value,
                  std::strerror(errno));
    }
    if (faults_ != nullptr) faults_->window_shown(first.value, end.value, host_protection(protection));
  }
  for (const Window& window : touched) {
    windows_.erase(window.begin.value);
    const GuestAddress low = std::max(first, window.begin), high = std::min(end, window.end());
    const auto part = [&](GuestAddress from, GuestAddress to, uint32_t bits) {
      if (from >= to) return;
      Window piece = window;
      piece.begin = from;
      piece.size = to - from;
      piece.offset = window.offset + (from - window.begin);
      piece.protection = bits;
      windows_[from.value] = piece;
    };
    part(window.begin, low, window.protection);
    part(low, high, protection);
    part(high, window.end(), window.protection);
  }
  return changed_map();
}

std::optional<Window> GuestMemory::find(GuestAddress address, bool next) const {
  std::shared_lock lock(mutex_);
  auto it = windows_.upper_bound(address.value);
  if (it != windows_.begin() && std::prev(it)->second.end() > address) return std::prev(it)->second;
  if (next && it != windows_.end()) return it->second;
  return {};
}

}  // namespace orrery::memory
