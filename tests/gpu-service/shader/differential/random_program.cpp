// Beginning and end of random programs; how they are launched.
#include "tests/gpu-service/shader/differential/random_program.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "tests/gpu-service/shader/differential/memory_map.hpp"
#include "tests/gpu-service/shader/differential/program_flow.hpp"

namespace orrery::shader::differential {
namespace {

constexpr uint32_t kScalarsKept = 12;

Launch random_launch(Family family, std::mt19937& random) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  Launch launch;
  launch.wave = below(2) == 0 ? 32 : 64;
  const bool lds = family == Family::lds || (family == Family::mixed && below(2) == 0);
  const uint32_t waves = lds ? 1u << below(2) : below(4) == 0 ? 2 : 1;
  launch.threads = launch.wave * waves;
  launch.groups = 1 + below(2);
  if (below(6) == 0) launch.threads -= 1 + below(launch.wave - 1);
  if (below(8) == 0) {
    launch.groups = 2;
    // A wave that is not there leaves its LDS as it was.
    const uint32_t missing = 1 + below(lds ? launch.wave - 1 : launch.threads - 1);
    launch.total_threads = 2 * launch.threads - std::min(missing, (launch.threads - 1) % launch.wave);
    if (!lds) launch.total_threads = 2 * launch.threads - missing;
  }
  launch.lds_bytes = lds ? kLdsBytes : 0;
  if (below(8) == 0) launch.float_mode = 0xc0 | below(4) << 4;  // f32's denormals flushed
  launch.ieee = below(8) == 0;
  return launch;
}

void write_start(ProgramWriter& w) {
  write_place(w);
  // Each lane's row of the input.
  w.line("v_mad_u32_u24 v4, v1, 52, 16");
  w.line(fmt::format("v_and_b32 v4, {:#x}, v4", kInputBytes - 4));
  w.line("buffer_load_dwordx4 v[8:11], v4, s[4:7], 0 offen");
  w.line("s_waitcnt vmcnt(0)");
  for (uint32_t n = 0; n < 4; ++n)
    w.line(fmt::format("v_alignbit_b32 v{}, v{}, v{}, {}", 12 + n, 8 + n, 11 - n, 5 * n));
  w.line("v_sub_nc_u32 v16, v8, v9");
  w.line("v_max_i32 v17, v10, v11");
  for (uint32_t n = 0; n < 4; ++n) w.line(fmt::format("v_xor_b32 v{}, {:#x}, v{}", 20 + n, n * 0x9e3779, 8 + 2 * n));
  for (uint32_t n = 0; n < 3; ++n) w.line(fmt::format("v_add_nc_u32 v{}, v{}, v3", 24 + n, 9 + 3 * n));
  for (uint32_t n = 0; n < 6; ++n)
    w.line(fmt::format("v_alignbit_b32 v{}, v{}, v{}, {}", 28 + n, 8 + n, 17 - n, 3 * n));
  w.line("v_mov_b32 v27, 0");
  w.line("v_mov_b32 v50, v9");
  // Lanes that are off can be read from these too.
  for (uint32_t n : {4u, 5u, 6u, 7u, 40u, 41u, 42u, 43u, 44u}) w.line(fmt::format("v_mov_b32 v{}, {}", n, n));
  w.line("s_load_dwordx8 s[20:27], s[0:1], 0x40");
  for (uint32_t n = 0; n < 4; ++n) w.line(fmt::format("v_readlane_b32 s{}, v{}, {}", 28 + n, 10 + n, 7 * n + 1));
  w.line("s_waitcnt vmcnt(0) lgkmcnt(0)");
  for (uint32_t n = 0; n < 6; ++n) {
    w.line(fmt::format("v_cmp_lt_i32 {}, v{}, v{}", w.mask(36 + 2 * n), 8 + n, 17 - n));
  }
  if (!w.wide()) w.line("s_mov_b32 vcc_hi, s23");
  w.line("v_cmp_gt_u32 {vcc}, 20, v3");
  if (w.launch().lds_bytes != 0) {
    w.line("v_lshlrev_b32 v4, 5, v2");
    w.line("ds_write_b128 v4, v[8:11]");
    w.line("ds_write_b128 v4, v[12:15] offset:16");
    w.line(fmt::format("v_lshl_add_u32 v4, v2, 4, {:#x}", kLdsExchange));
    w.line("ds_write_b128 v4, v[9:12]");
    w.line(fmt::format("v_lshl_add_u32 v4, v2, 2, {:#x}", kLdsGroup));
    w.line("ds_write_b32 v4, v13");
    // The operations' dwords, by the first lanes.
    w.line("v_and_b32 v5, 31, v2");
    w.line(fmt::format("v_lshl_add_u32 v4, v5, 2, {:#x}", kLdsAtomics));
    w.line("v_mul_u32_u24 v5, 0x1235, v5");
    w.line("ds_write_b32 v4, v5");
  }
  if (!w.launch().starts_full()) w.line("s_mov_{b} {exec}, " + w.mask(34));
  if (w.launch().lds_bytes != 0) {
    w.line("s_waitcnt lgkmcnt(0)");
    w.line("s_barrier");
  }
  w.line("s_cmp_lt_i32 s20, s21");
}

// A VGPR becomes its number times an odd one plus what follows: as many registers as wanted in one, because accesses
// are what drivers take longest for.
void mix(ProgramWriter& w, const char* into, const std::string& next) {
  w.line(fmt::format("v_mul_lo_u32 {0}, 0x9e3779b1, {0}", into));
  w.line(fmt::format("v_xor_b32 {0}, {0}, {1}", into, next));
}

// One NaN for all.
void mix_floats(ProgramWriter& w) {
  w.line("v_mov_b32 v6, v20");
  for (uint32_t n = 20; n < 24; ++n) {
    w.line(fmt::format("v_cmp_u_f32 {{vcc}}, v{0}, v{0}", n));
    w.line(fmt::format("v_cndmask_b32 v4, v{}, 0x7fc00000, {{vcc}}", n));
    n == 20 ? w.line("v_mov_b32 v6, v4") : mix(w, "v6", "v4");
  }
  for (uint32_t n = 24; n < 27; ++n) {
    for (const uint32_t shift : {0, 16}) {
      w.line(fmt::format("v_bfe_u32 v4, v{}, {}, 16", n, shift));
      w.line("v_cmp_u_f16 {vcc}, v4, v4");
      w.line("v_cndmask_b32 v4, v4, 0x7e00, {vcc}");
      mix(w, "v6", "v4");
    }
  }
  for (uint32_t n = 28; n < 34; n += 2) {
    w.line(fmt::format("v_cmp_u_f64 {{vcc}}, v[{0}:{1}], v[{0}:{1}]", n, n + 1));
    w.line(fmt::format("v_cndmask_b32 v4, v{}, 0, {{vcc}}", n));
    w.line(fmt::format("v_cndmask_b32 v5, v{}, 0x7ff80000, {{vcc}}", n + 1));
    mix(w, "v6", "v4");
    mix(w, "v6", "v5");
  }
}

void mix_scalars(ProgramWriter& w) {
  const auto keep = [&](const std::string& sgpr) {
    w.line("s_mul_i32 s80, s80, 0x9e3779b1");
    w.line("s_xor_b32 s80, s80, " + sgpr);
  };
  for (uint32_t n = 0; n < kScalarsKept; ++n) keep(fmt::format("s{}", 20 + n));
  for (uint32_t n = 0; n < 6; ++n) keep(fmt::format("s{}", 36 + 2 * n));
  keep("vcc_lo");
  keep("exec_lo");
  if (!w.wide()) return;
  for (uint32_t n = 0; n < 6; ++n) keep(fmt::format("s{}", 37 + 2 * n));
  keep("vcc_hi");
  keep("exec_hi");
}

// All registers into the thread's row: a dword of half of the integers each, one of floats, one of scalars.
void write_end(ProgramWriter& w) {
  w.line("s_cselect_b32 s80, 1, 0");
  mix_scalars(w);
  w.line("s_mov_{b} {exec}, " + w.mask(34));
  w.line("v_mov_b32 v7, s80");
  mix_floats(w);
  if (w.launch().lds_bytes != 0) {
    w.line("s_barrier");
    w.line("v_and_b32 v5, 31, v2");
    w.line(fmt::format("v_lshl_add_u32 v5, v5, 2, {:#x}", kLdsAtomics));
    w.line("ds_read_b32 v5, v5");
    w.line("s_waitcnt lgkmcnt(0)");
  } else {
    w.line("v_mov_b32 v5, v50");
  }
  w.line("v_mov_b32 v4, v8");
  for (uint32_t n = 9; n < 13; ++n) mix(w, "v4", fmt::format("v{}", n));
  for (uint32_t n = 13; n < 18; ++n) mix(w, "v5", fmt::format("v{}", n));
  w.line("v_lshlrev_b32 v8, 4, v1");
  w.line(fmt::format("v_add_nc_u32 v8, {:#x}, v8", kOutput));
  w.line("buffer_store_dwordx4 v[4:7], v8, s[8:11], 0 offen");
  w.line("s_endpgm");
}

}  // namespace

const char* name_of(Family family) {
  static constexpr const char* kNames[] = {"integer", "floats", "scalar", "masks", "lanes",
                                           "flow",    "lds",    "memory", "mixed"};
  return kNames[static_cast<size_t>(family)];
}

ProgramText random_program(Family family, uint32_t seed) {
  std::mt19937 random(seed * kFamilies.size() + static_cast<uint32_t>(family));
  const Launch launch = random_launch(family, random);
  ProgramWriter writer(launch, fmt::format("{}_{}", name_of(family), seed), static_cast<uint32_t>(random()));
  write_start(writer);
  ProgramFlow flow(writer, family);
  const bool accesses = family == Family::lds || family == Family::memory;
  flow.statements((accesses ? 6 : 14) + writer.below(accesses ? 8 : 24), 0, true);
  writer.set_unit(0);
  write_end(writer);
  flow.routines();
  ProgramText text = writer.finish();
  text.name = fmt::format("{}:{}", name_of(family), seed);
  return text;
}

}  // namespace orrery::shader::differential
