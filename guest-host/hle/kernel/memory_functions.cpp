// Names, structures and error numbers: guest-abi.md 7, T1.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "guest-host/hle/kernel/library.hpp"
#include "shared/log.hpp"

namespace orrery::hle::kernel {

namespace {

using memory::GuestMemory;
using memory::MapKind;

constexpr uint32_t kFixed = 0x10, kNoOverwrite = 0x80;
constexpr int kMostTypes = 10;

bool whole_pages(uint64_t value) { return value % kGuestPage == 0; }
bool good_alignment(uint64_t value) { return value == 0 || (whole_pages(value) && (value & (value - 1)) == 0); }

// The memory type of each direct allocation, for sceKernelVirtualQuery.
class MemoryTypes {
 public:
  void set(uint64_t offset, int32_t type) {
    const std::lock_guard lock(mutex_);
    types_[offset] = type;
  }
  int32_t at(uint64_t offset) const {
    const std::lock_guard lock(mutex_);
    const auto it = types_.upper_bound(offset);
    return it == types_.begin() ? 0 : std::prev(it)->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, int32_t> types_;
};

class Memory {
 public:
  explicit Memory(Environment& env) : env_(env), memory_(env.memory) {}

  int32_t allocate(int64_t low, int64_t high, uint64_t size, uint64_t alignment, int32_t type, GuestAddress out) {
    if (low < 0 || high <= low || size == 0 || !whole_pages(size) || !good_alignment(alignment) || type < 0 ||
        type > kMostTypes) {
      return kernel_error(kEinval);
    }
    const auto end = std::min(static_cast<uint64_t>(high), memory_.direct_size().value);
    const auto place = memory_.allocate_direct({static_cast<uint64_t>(low)}, {end}, {size}, {alignment});
    if (!place) return kernel_error(kEagain);
    types_.set(place->value, type);
    if (memory_.write_value(out, place->value)) return 0;
    [[maybe_unused]] const auto released = memory_.release_direct(*place, {size});
    return kernel_error(kEfault);
  }

  int32_t available(int64_t low, int64_t high, uint64_t alignment, GuestAddress out, GuestAddress out_size) {
    if (low < 0 || high <= low || !good_alignment(alignment)) return kernel_error(kEinval);
    const auto end = std::min(static_cast<uint64_t>(high), memory_.direct_size().value);
    const auto best = memory_.largest_free_direct({static_cast<uint64_t>(low)}, {end}, {alignment});
    if (!best) return kernel_error(kEnomem);
    const bool stored = memory_.write_value(out, best->begin) && memory_.write_value(out_size, best->size);
    return stored ? 0 : kernel_error(kEfault);
  }

  int32_t release(int64_t offset, uint64_t size) {
    if (size == 0) return 0;
    return memory_.release_direct({static_cast<uint64_t>(offset)}, {size}) ? 0 : kernel_error(kEnoent);
  }

  int32_t map(GuestAddress address_place, uint64_t size, uint32_t protection, uint32_t flags,
              std::optional<uint64_t> physical, uint64_t alignment, GuestAddress name) {
    const auto wish = memory_.read_value<uint64_t>(address_place);
    if (!wish) return kernel_error(kEfault);
    std::string label;
    if (name.value != 0) {
      const auto text = memory_.read_string(name, 32);
      if (!text) return kernel_error(kEfault);
      label = *text;
    }
    if (size == 0 || !whole_pages(size) || !whole_pages(*wish) || !good_alignment(alignment) ||
        !good_protection(protection) || (physical && !whole_pages(*physical))) {
      return kernel_error(kEinval);
    }
    const bool fixed = (flags & kFixed) != 0;
    if (fixed && *wish == 0) return kernel_error(kEinval);
    memory::MapRequest request{.kind = physical ? MapKind::direct : MapKind::flexible,
                               .size = {size},
                               .protection = protection,
                               .address = {*wish},
                               .fixed = fixed,
                               .keep_existing = (flags & kNoOverwrite) != 0,
                               .alignment = {std::max(alignment, kGuestPage)},
                               .name = std::move(label)};
    if (physical) request.offset = ArenaOffset{*physical};
    const auto place = memory_.map(request);
    if (!place) {
      log::info("mapping for the title failed: {}", place.error().describe());
      return kernel_error(kEnomem);
    }
    if (memory_.write_value(address_place, place->value)) return 0;
    [[maybe_unused]] const auto unmapped = memory_.unmap(*place, {size});
    return kernel_error(kEfault);
  }

  int32_t reserve(GuestAddress address_place, uint64_t size, uint32_t flags, uint64_t alignment) {
    const auto wish = memory_.read_value<uint64_t>(address_place);
    if (!wish) return kernel_error(kEfault);
    if (size == 0 || !whole_pages(size) || !whole_pages(*wish) || !good_alignment(alignment)) {
      return kernel_error(kEinval);
    }
    const auto place = memory_.reserve({size}, {*wish}, (flags & kFixed) != 0, {std::max(alignment, kGuestPage)});
    if (!place) return kernel_error(kEnomem);
    return memory_.write_value(address_place, place->value) ? 0 : kernel_error(kEfault);
  }

  int32_t unmap(GuestAddress address, uint64_t size) {
    if (size == 0 || !whole_pages(address.value)) return kernel_error(kEinval);
    return memory_.unmap(address, {size}) ? 0 : kernel_error(kEinval);
  }

  int32_t protect(GuestAddress address, uint64_t size, uint32_t protection) {
    if (size == 0 || !good_protection(protection)) return kernel_error(kEinval);
    return memory_.protect(address, {size}, protection) ? 0 : kernel_error(kEnomem);
  }

  // Entries: { u64 address; u64 offset; u64 size; u8 protection; u8 type; u16; u32 operation }.
  int32_t batch(GuestAddress entries, int32_t count, GuestAddress done_place) {
    struct Entry {
      uint64_t address, offset, size;
      uint8_t protection, type;
      uint16_t reserved;
      uint32_t operation;
    };
    static_assert(sizeof(Entry) == 32);
    if (count < 0) return kernel_error(kEinval);
    int32_t done = 0, status = 0;
    for (; done < count && status == 0; ++done) {
      const auto entry = memory_.read_value<Entry>(entries + Bytes{static_cast<uint64_t>(done) * sizeof(Entry)});
      status = entry ? one(entry->operation, entry->address, entry->offset, entry->size, entry->protection)
                     : kernel_error(kEfault);
      if (status != 0) break;
    }
    if (done_place.value != 0 && !memory_.write_value(done_place, done)) return kernel_error(kEfault);
    return status;
  }

  int32_t query(GuestAddress address, int32_t flags, GuestAddress out, uint64_t size) {
    struct Info {
      uint64_t begin, end, offset;
      int32_t protection, type;
      uint8_t flags;
      char name[32];
    };
    static_assert(sizeof(Info) == 72);
    if (size < sizeof(Info)) return kernel_error(kEinval);
    const auto window = memory_.find(address, (flags & 1) != 0);
    if (!window) return kernel_error(kEacces);
    Info info{};
    info.begin = window->begin.value;
    info.end = window->end().value;
    info.protection = static_cast<int32_t>(window->protection);
    if (window->kind == MapKind::direct) {
      info.offset = window->offset.value;
      info.type = types_.at(window->offset.value);
    }
    info.flags =
        static_cast<uint8_t>((window->kind == MapKind::flexible ? 1 : 0) | (window->kind == MapKind::direct ? 2 : 0) |
                             (window->kind == MapKind::stack ? 4 : 0) | (window->reserved ? 0 : 0x10));
    std::strncpy(info.name, window->name.c_str(), sizeof info.name - 1);
    return memory_.write_value(out, info) ? 0 : kernel_error(kEfault);
  }

 private:
  bool good_protection(uint32_t protection) {
    if ((protection & ~memory::kKnownProtection) == 0) return true;
    env_.refusals.refuse("memory protection bits", fmt::format("{:#x}", protection));
    return false;
  }

  int32_t one(uint32_t operation, uint64_t address, uint64_t offset, uint64_t size, uint32_t protection) {
    const auto map_here = [&](std::optional<uint64_t> physical) -> int32_t {
      if (size == 0 || !whole_pages(size) || !whole_pages(address) || address == 0 || !good_protection(protection)) {
        return kernel_error(kEinval);
      }
      memory::MapRequest request{.kind = physical ? MapKind::direct : MapKind::flexible,
                                 .size = {size},
                                 .protection = protection,
                                 .address = {address},
                                 .fixed = true};
      if (physical) request.offset = ArenaOffset{*physical};
      return memory_.map(request) ? 0 : kernel_error(kEnomem);
    };
    switch (operation) {
      case 0:
        return map_here(offset);
      case 1:
        return unmap({address}, size);
      case 2:
        return protect({address}, size, protection);
      case 3:
        return map_here(std::nullopt);
      default:
        env_.refusals.refuse("operation of sceKernelBatchMap", fmt::format("{}", operation));
        return kernel_error(kEinval);
    }
  }

  Environment& env_;
  GuestMemory& memory_;
  MemoryTypes types_;
};

}  // namespace

void add_memory_functions(Registry& registry, Environment& env) {
  constexpr std::string_view kLibrary = "libkernel";
  const auto m = std::make_shared<Memory>(env);
  GuestMemory& memory = env.memory;
  registry.add(kLibrary, "sceKernelGetDirectMemorySize", [&memory] { return memory.direct_size().value; });
  registry.add(kLibrary, "sceKernelAllocateDirectMemory",
               [m](int64_t low, int64_t high, uint64_t size, uint64_t alignment, int32_t type, GuestAddress out) {
                 return m->allocate(low, high, size, alignment, type, out);
               });
  registry.add(kLibrary, "sceKernelAllocateMainDirectMemory",
               [m, &memory](uint64_t size, uint64_t alignment, int32_t type, GuestAddress out) {
                 return m->allocate(0, static_cast<int64_t>(memory.direct_size().value), size, alignment, type, out);
               });
  registry.add(kLibrary, "sceKernelAvailableDirectMemorySize",
               [m](int64_t low, int64_t high, uint64_t alignment, GuestAddress out, GuestAddress out_size) {
                 return m->available(low, high, alignment, out, out_size);
               });
  const auto release = [m](int64_t offset, uint64_t size) { return m->release(offset, size); };
  registry.add(kLibrary, "sceKernelReleaseDirectMemory", release);
  registry.add(kLibrary, "sceKernelCheckedReleaseDirectMemory", release);
  registry.add(kLibrary, "sceKernelMapDirectMemory",
               [m](GuestAddress address, uint64_t size, uint32_t protection, uint32_t flags, uint64_t physical,
                   uint64_t alignment) { return m->map(address, size, protection, flags, physical, alignment, {}); });
  registry.add(kLibrary, "sceKernelMapNamedDirectMemory",
               [m](GuestAddress address, uint64_t size, uint32_t protection, uint32_t flags, uint64_t physical,
                   uint64_t alignment,
                   GuestAddress name) { return m->map(address, size, protection, flags, physical, alignment, name); });
  registry.add(kLibrary, "sceKernelMapFlexibleMemory",
               [m](GuestAddress address, uint64_t size, uint32_t protection, uint32_t flags) {
                 return m->map(address, size, protection, flags, std::nullopt, 0, {});
               });
  registry.add(kLibrary, "sceKernelMapNamedFlexibleMemory",
               [m](GuestAddress address, uint64_t size, uint32_t protection, uint32_t flags, GuestAddress name) {
                 return m->map(address, size, protection, flags, std::nullopt, 0, name);
               });
  registry.add(kLibrary, "sceKernelAvailableFlexibleMemorySize", [&memory](GuestAddress out) -> int32_t {
    return memory.write_value(out, memory.flexible_free().value) ? 0 : kernel_error(kEfault);
  });
  registry.add(kLibrary, "sceKernelReserveVirtualRange",
               [m](GuestAddress address, uint64_t size, uint32_t flags, uint64_t alignment) {
                 return m->reserve(address, size, flags, alignment);
               });
  registry.add(kLibrary, "sceKernelBatchMap",
               [m](GuestAddress entries, int32_t count, GuestAddress done) { return m->batch(entries, count, done); });
  const auto unmap = [m](GuestAddress address, uint64_t size) { return m->unmap(address, size); };
  registry.add(kLibrary, "sceKernelMunmap", unmap);
  registry.add(kLibrary, "sceKernelReleaseFlexibleMemory", unmap);
  registry.add(kLibrary, "sceKernelMprotect", [m](GuestAddress address, uint64_t size, uint32_t protection) {
    return m->protect(address, size, protection);
  });
  registry.add(kLibrary, "sceKernelVirtualQuery",
               [m](GuestAddress address, int32_t flags, GuestAddress out, uint64_t size) {
                 return m->query(address, flags, out, size);
               });
}

}  // namespace orrery::hle::kernel
