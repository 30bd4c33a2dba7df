// Running a dispatch's waves on the host to find where they store: a 256-group sample of a program of the streaming
// loop's shape (each wave folds its slice of a large input and stores through a table's entry), wholly and for the
// places only, on one core and on all.
#include <benchmark/benchmark.h>
#include <algorithm>
#include <cstring>
#include <thread>

#include "gpu-service/dispatch/host_run.hpp"
#include "gpu-service/dispatch/routes.hpp"
#include "protocol/address_map.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::bench {
namespace {

constexpr uint64_t kWindow = 0x2'0000'0000, kArena = 128ull << 20;
constexpr uint64_t kTable = 0, kIn = 1 << 20, kOut = 96ull << 20;
constexpr uint32_t kWords = 31;  // a lane folds: 42 MiB in all over the seed's seven dispatches

// llvm-mc-19 -mcpu=gfx1013 -mattr=+wavefrontsize32; four waves of 32 in a group, s8 is the group.
//   v_lshrrev_b32 v1, 5, v0; v_readfirstlane_b32 s9, v1; v_and_b32 v0, 31, v0; s_lshl2_add_u32 s9, s8, s9
//   s_lshl_b32 s10, s9, 4; s_load_dwordx4 s[12:15], s[0:1], s10; s_mul_i32 s10, s9, 31 * 128; v_lshlrev_b32 v1, 2, v0
//   v_add_nc_u32 v3, s10, v1; v_mov_b32 v2, s6; s_mov_b32 s11, 0
//   L: global_load_dword v4, v3, s[2:3]; s_waitcnt vmcnt(0); v_xor_b32 v2, v2, v4; v_mul_lo_u32 v2, v2, s7
//   v_add_nc_u32 v3, 0x80, v3; s_add_u32 s11, s11, 1; s_cmp_lt_u32 s11, 31; s_cbranch_scc1 L
//   s_waitcnt lgkmcnt(0); buffer_store_dword v2, v1, s[12:15], 0 offen; s_endpgm
constexpr uint32_t kCode[] = {
    0x2c020085, 0x7e120501, 0x3600009f, 0x97890908, 0x8f0a8409, 0xf4080300, 0x14000000,
    0x930aff09, 0x00000f80, 0x34020082, 0x4a06020a, 0x7e040206, 0xbe8b0380, 0xdc308000,
    0x04020003, 0xbf8c3f70, 0x3a040902, 0xd5690002, 0x00000f02, 0x4a0606ff, 0x00000080,
    0x800b810b, 0xbf0a9f0b, 0xbf85fff5, 0xbf8cc07f, 0xe0701000, 0x80030201, 0xbf810000,
};

struct Guest {
  std::vector<uint64_t> map_words = std::vector<uint64_t>(protocol::address_map_memory() / 8 + 1);
  UniqueFd file = std::move(*make_memory_file("bench arena", {kArena}));
  Mapping arena = std::move(*Mapping::of(file, {0}, {kArena}));
  shader::Program program;
  dispatch::DispatchState state;
  dispatch::LaunchGeometry geometry;

  explicit Guest(uint32_t groups) {
    const auto bytes = std::as_writable_bytes(std::span(map_words));
    const protocol::MapEntry entry{kWindow, kArena, 0, 0x33, static_cast<uint32_t>(protocol::MapKind::direct)};
    (void)protocol::AddressMapWriter(bytes).publish({&entry, 1});
    program = *shader::read_program([](uint32_t offset, uint32_t dwords) {
      const size_t first = offset / 4;
      return std::span(kCode).subspan(std::min(first, std::size(kCode)),
                                      std::min<size_t>(dwords, std::size(kCode) - std::min(first, std::size(kCode))));
    });
    const auto point = [&](size_t at, uint64_t offset) {
      state.user_data[at] = static_cast<uint32_t>(kWindow + offset);
      state.user_data[at + 1] = static_cast<uint32_t>((kWindow + offset) >> 32);
    };
    point(0, kTable);
    point(2, kIn);
    state.user_data[6] = 1;
    state.user_data[7] = 16777619;
    state.program = {kWindow + kArena - 0x10000};
    state.rsrc1 = 0xf0 << 12;
    state.rsrc2 = 8u << 1 | 1u << 7;
    state.initiator = dispatch::kWave32 | dispatch::kStartAtZero;
    state.group_size = {128, 1, 1};
    state.groups = {groups, 1, 1};
    geometry = *dispatch::launch_geometry(state);
    for (uint64_t wave = 0; wave < uint64_t{groups} * 4; ++wave) {
      const uint64_t base = kWindow + kOut + wave * 128;
      const uint32_t words[] = {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32), 128, 3u << 28};
      std::memcpy(arena.data() + kTable + wave * 16, words, 16);
    }
  }
  memory::GuestMemory memory() {
    memory::GuestMemory m(arena.bytes(),
                          protocol::AddressMapReader(std::as_writable_bytes(std::span(map_words)), {kArena}));
    (void)m.refresh();
    return m;
  }
};

// 1,024 waves; `whole` runs every instruction.
void sample(benchmark::State& state, unsigned threads, bool whole) {
  Guest guest(256);
  const auto memory = guest.memory();
  uint64_t steps = 0, ranges = 0;
  for (auto _ : state) {
    const auto run =
        dispatch::run_on_host(guest.program, guest.state, guest.geometry, memory,
                              {.most_waves = dispatch::kMostDispatchWaves, .threads = threads, .whole = whole});
    if (!run) return state.SkipWithError(run.error().reason.c_str());
    steps = run->steps;
    ranges = run->written.size();
  }
  state.counters["steps"] = static_cast<double>(steps);
  state.counters["ranges"] = static_cast<double>(ranges);
  state.counters["cores"] = threads != 0 ? threads : std::thread::hardware_concurrency();
}

BENCHMARK_CAPTURE(sample, places_on_one_core, 1, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(sample, places_on_all_cores, 0, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(sample, everything_on_one_core, 1, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(sample, everything_on_all_cores, 0, true)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace orrery::bench
