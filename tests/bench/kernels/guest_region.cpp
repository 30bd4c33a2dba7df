#include "tests/bench/kernels/guest_region.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstring>

namespace orrery::bench {

Result<std::unique_ptr<GuestRegion>> GuestRegion::map(uint64_t size) {
  void* const wanted = reinterpret_cast<void*>(kAddress);  // NOLINT(performance-no-int-to-ptr)
  void* const got = mmap(wanted, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  if (got != wanted) {
    if (got != MAP_FAILED) munmap(got, size);
    return fail(ExitCode::internal, "{} bytes at {:#x} can't be mapped", size, kAddress);
  }
  return std::unique_ptr<GuestRegion>(new GuestRegion({static_cast<std::byte*>(got), size}));
}

GuestRegion::~GuestRegion() { munmap(bytes_.data(), bytes_.size()); }

RegionPlan plan_region(const PreparedCase& prepared, const dispatch::CorpusKernel& kernel) {
  const TitleKernel title(kernel, nullptr);
  ::dispatch launch{};
  launch.kernel = &title.kernel;
  RegionPlan plan;
  plan.arguments = align_up(prepared.layout.total, 256);
  plan.image = align_up(plan.arguments + DISPATCH_ARGUMENT_BYTES, 256);
  plan.scratch = align_up(plan.image + kernel.image.size(), 256);
  plan.size = align_up(plan.scratch + dispatch_scratch_bytes(&launch) + 256, 1 << 16);
  return plan;
}

namespace {

// The registers that the packets set, by offset from SH base 0x2C00 (see ../../titles/gpu/dispatch.c).
Result<dispatch::DispatchState> registers_of(std::span<const unsigned> packets) {
  std::array<uint32_t, 0x400> registers{};
  dispatch::DispatchState state;
  bool dispatched = false;
  for (size_t at = 0; at < packets.size();) {
    const uint32_t header = packets[at], opcode = header >> 8 & 0xff, body = (header >> 16 & 0x3fff) + 1;
    if (header >> 30 != 3 || at + body >= packets.size()) return fail(ExitCode::internal, "no packet: {:#x}", header);
    const auto words = packets.subspan(at + 1, body);
    at += body + 1;
    if (opcode == 0x76) {
      for (size_t i = 1; i < body; ++i) registers.at(words[0] + i - 1) = words[i];
    } else if (opcode == 0x15) {
      state.groups = {words[0], words[1], words[2]};
      state.initiator = words[3] | 1u << 2;
      dispatched = true;
    }
  }
  if (!dispatched) return fail(ExitCode::internal, "the packets dispatch nothing");
  state.group_size = {registers[0x207], registers[0x208], registers[0x209]};
  state.program = {(registers[0x20c] | static_cast<uint64_t>(registers[0x20d]) << 32) << 8};
  state.rsrc1 = registers[0x212];
  state.rsrc2 = registers[0x213];
  state.tmpring_size = registers[0x218];
  state.rsrc3 = registers[0x228];
  std::copy_n(registers.begin() + 0x240, 16, state.user_data.begin());
  return state;
}

}  // namespace

Result<dispatch::DispatchState> write_launch(const GuestRegion& region, const RegionPlan& plan,
                                             const PreparedCase& prepared, const dispatch::CorpusKernel& kernel) {
  std::memcpy(region.at(plan.image), kernel.image.data(), kernel.image.size());
  const TitleKernel title(kernel, region.at(plan.image));
  std::array<unsigned char, DISPATCH_ARGUMENT_BYTES> arguments{};
  if (write_arguments(arguments.data(), &title.kernel, prepared.arguments.data(), prepared.count, &prepared.layout,
                      region.at(0)) == 0) {
    return fail(ExitCode::internal, "{}: the case's arguments are not the kernel's", kernel.name);
  }
  ::dispatch launch{};
  launch.kernel = &title.kernel;
  launch.arguments = arguments.data();
  for (size_t i = 0; i < 3; ++i) {
    launch.group_size[i] = kernel.group_size[i];
    launch.groups[i] = (prepared.items[i] + kernel.group_size[i] - 1) / kernel.group_size[i];
  }
  if (prepared.by_threads) std::ranges::copy(prepared.items, launch.threads);
  launch.memory = region.at(plan.arguments);
  if (dispatch_scratch_bytes(&launch) != 0) launch.scratch = region.at(plan.scratch);
  std::array<unsigned, 256> words{};
  packet_writer packets{words.data(), 0, words.size(), 0};
  write_dispatch(&packets, &launch);
  if (packets.overflow != 0) return fail(ExitCode::internal, "{}: the packets do not fit", kernel.name);
  return registers_of(std::span(words).first(packets.count));
}

}  // namespace orrery::bench
