// Instructions that read or write other lanes, count lanes, or index registers by M0.
#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;

void read_first_lane(Wave& wave, const Step& step) {
  const u64 exec = wave.exec();
  const auto lane = exec == 0 ? 0u : static_cast<u32>(std::countr_zero(exec));
  wave.set(step.destination, wave.row(step.sources[0].index)[lane]);
}
// The lane may be inactive; the selector wraps.
void read_lane(Wave& wave, const Step& step) {
  const u32 lane = scalar32(wave, step.sources[1]) & (wave.lanes - 1);
  wave.set(step.destination, wave.row(step.sources[0].index)[lane]);
}
void write_lane(Wave& wave, const Step& step) {
  const u32 lane = scalar32(wave, step.sources[1]) & (wave.lanes - 1);
  wave.row(step.destination)[lane] = scalar32(wave, step.sources[0]);
}

// Bits of S0 below the lane's own, plus S1.
template <bool kHigh>
void count_below(Wave& wave, const Step& step) {
  Lanes<u32> a, b, r;
  fetch(wave, step, 0, a);
  fetch(wave, step, 1, b);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const u64 below = (u64{1} << lane) - 1;
    r[lane] = static_cast<u32>(std::popcount(a[lane] & static_cast<u32>(kHigh ? below >> 32 : below))) + b[lane];
  }
  write(wave, step, r);
}

// v_permlane16: any lane of the own row of 16; v_permlanex16: of the row beside it. Selectors: 16 times 4 bits in
// S2:S1.
template <bool kOtherRow>
void permute_row(Wave& wave, const Step& step) {
  Lanes<u32> from, r;
  fetch(wave, step, 0, from);
  const u64 selectors = scalar32(wave, step.sources[1]) | u64{scalar32(wave, step.sources[2])} << 32;
  const bool fetch_inactive = (step.instruction->op_select & 1) != 0,
             bound_control = (step.instruction->op_select & 2) != 0;
  const u64 exec = wave.exec();
  u64 written = 0;
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const u32 row = (lane & ~15u) ^ (kOtherRow ? 16u : 0u);
    const u32 source = row + static_cast<u32>(selectors >> (4 * (lane & 15)) & 15);
    const bool valid = fetch_inactive || active(exec, source);
    r[lane] = valid ? from[source] : 0;
    written |= u64{valid || bound_control} << lane;
  }
  write_row(wave, step.destination, r, exec & written);
}

void swap(Wave& wave, const Step& step) {
  u32 *a = wave.row(step.destination), *b = wave.row(step.sources[0].index);
  const u64 exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (active(exec, lane)) {
      std::swap(a[lane], b[lane]);
    }
  }
}

// ISA document, "Out-of-range behavior": a source outside reads VGPR 0, a result outside is dropped.
constexpr u32 kVgprs = 256;

// v_movrel*: M0 moves the source, the result, or both (the _2 form: by 10 bits each).
template <bool kSource, bool kResult, bool kTwo>
void move_relative(Wave& wave, const Step& step) {
  const u32 m0 = wave.sgpr[kM0];
  const u32 from_by = kTwo ? m0 & 0x3ff : m0, to_by = kTwo ? m0 >> 16 & 0x3ff : m0;
  const u32 from = step.sources[0].index + (kSource ? from_by : 0), to = step.destination + (kResult ? to_by : 0);
  if (step.instruction->sdwa.present || step.instruction->dpp.kind != Dpp::Kind::none) {
    wave.refuse(step, "relative move with SDWA or DPP");
    return;
  }
  Lanes<u32> values;
  if (kSource || step.sources[0].kind == SourceKind::vgpr) {
    std::memcpy(values.of, wave.row(from < kVgprs ? from : 0), size_t{wave.lanes} * 4);
  } else {
    fetch(wave, step, 0, values);
  }
  if (to < kVgprs) write_row(wave, to, values, wave.exec());
}

void swap_relative(Wave& wave, const Step& step) {
  const u32 m0 = wave.sgpr[kM0];
  const u32 x = step.destination + (m0 >> 16 & 0x3ff), y = step.sources[0].index + (m0 & 0x3ff);
  Lanes<u32> of_x, of_y;
  std::memcpy(of_x.of, wave.row(x < kVgprs ? x : 0), size_t{wave.lanes} * 4);
  std::memcpy(of_y.of, wave.row(y < kVgprs ? y : 0), size_t{wave.lanes} * 4);
  if (x < kVgprs) write_row(wave, x, of_y, wave.exec());
  if (y < kVgprs) write_row(wave, y, of_x, wave.exec());
}

void nothing(Wave&, const Step&) {}

}  // namespace

Handler vector_lanes_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_nop:
    case Opcode::v_pipeflush:
    case Opcode::v_clrexcp:
      return nothing;
    case Opcode::v_readfirstlane_b32:
      return read_first_lane;
    case Opcode::v_readlane_b32:
      return read_lane;
    case Opcode::v_writelane_b32:
      return write_lane;
    case Opcode::v_mbcnt_lo_u32_b32:
      return count_below<false>;
    case Opcode::v_mbcnt_hi_u32_b32:
      return count_below<true>;
    case Opcode::v_swaprel_b32:
      return swap_relative;
    case Opcode::v_permlane16_b32:
      return permute_row<false>;
    case Opcode::v_permlanex16_b32:
      return permute_row<true>;
    case Opcode::v_swap_b32:
      return swap;
    case Opcode::v_movrels_b32:
      return move_relative<true, false, false>;
    case Opcode::v_movreld_b32:
      return move_relative<false, true, false>;
    case Opcode::v_movrelsd_b32:
      return move_relative<true, true, false>;
    case Opcode::v_movrelsd_2_b32:
      return move_relative<true, true, true>;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
