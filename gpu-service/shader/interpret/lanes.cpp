#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

// The lane that DPP reads for `lane`, or -1 where there is none. ISA document, "DPP_CTRL".
int dpp16_source(uint32_t control, int lane) {
  const int row = lane & ~15, in_row = lane & 15, amount = static_cast<int>(control & 15);
  if (control <= 0xff) {
    return (lane & ~3) | static_cast<int>(control >> (2 * (lane & 3)) & 3);
  }
  switch (control >> 4) {
    case 0x10:
      return in_row + amount < 16 ? lane + amount : -1;
    case 0x11:
      return in_row >= amount ? lane - amount : -1;
    case 0x12:
      return row | ((in_row - amount) & 15);
    case 0x14:
      return control == 0x140 ? row | (15 - in_row) : (lane & ~7) | (7 - (lane & 7));
    case 0x15:
      return row | amount;
    default:
      return lane ^ amount;
  }
}

void apply_dpp(Wave& wave, const Dpp& dpp, Lanes<uint32_t>& values) {
  const Lanes<uint32_t> from = values;
  const uint64_t exec = wave.exec();
  uint64_t write = 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    int source = 0;
    bool masked = false;
    if (dpp.kind == Dpp::Kind::dpp8) {
      source = static_cast<int>((lane & ~7u) | (dpp.lanes >> (3 * (lane & 7)) & 7));
    } else {
      source = dpp16_source(dpp.control, static_cast<int>(lane));
      masked = (dpp.row_mask >> (lane / 16 & 3) & 1) == 0 || (dpp.bank_mask >> (lane / 4 & 3) & 1) == 0;
    }
    const bool valid = source >= 0 && (dpp.fetch_inactive || active(exec, static_cast<uint32_t>(source)));
    values[lane] = valid ? from[static_cast<size_t>(source)] : 0;
    // Without bound control a lane that has nothing to read keeps its result; DPP8 always reads 0.
    const bool keeps = !valid && !dpp.bound_control && dpp.kind == Dpp::Kind::dpp16;
    write |= masked || keeps ? 0 : 1ull << lane;
  }
  wave.write_lanes = write;
}

uint32_t select(uint32_t value, SdwaSelect part, bool sign) {
  switch (part) {
    case SdwaSelect::dword:
      return value;
    case SdwaSelect::word0:
    case SdwaSelect::word1: {
      const auto word = static_cast<uint16_t>(value >> (part == SdwaSelect::word1 ? 16 : 0));
      return sign ? static_cast<uint32_t>(static_cast<int16_t>(word)) : word;
    }
    default: {
      const auto byte = static_cast<uint8_t>(value >> (8 * static_cast<unsigned>(part)));
      return sign ? static_cast<uint32_t>(static_cast<int8_t>(byte)) : byte;
    }
  }
}

uint32_t special(const Wave& wave, uint32_t index) {
  switch (index) {
    case 251:
      return wave.mask(kVcc) == 0 ? 1 : 0;
    case 252:
      return wave.exec() == 0 ? 1 : 0;
    case 253:
      return wave.scc ? 1 : 0;
    default:
      return 0;
  }
}

void fill(const Wave& wave, Lanes<uint32_t>& out, uint32_t value) {
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    out[lane] = value;
  }
}

// The part of the destination that SDWA writes, the rest as DST_UNUSED says.
uint32_t merge_sdwa(const Sdwa& sdwa, uint32_t old, uint32_t value) {
  if (sdwa.destination == SdwaSelect::dword) {
    return value;
  }
  const bool word = sdwa.destination >= SdwaSelect::word0;
  const unsigned part = static_cast<unsigned>(sdwa.destination) - (word ? 4u : 0u);
  const unsigned shift = part * (word ? 16u : 8u);
  const uint32_t low = word ? 0xffffu : 0xffu, mask = low << shift;
  const uint32_t placed = (value & low) << shift;
  switch (sdwa.unused) {
    case 0:
      return placed;
    case 1: {
      const bool negative = (value & (word ? 0x8000u : 0x80u)) != 0;
      const uint32_t above = shift + (word ? 16u : 8u) == 32 ? 0 : ~0u << (shift + (word ? 16u : 8u));
      return placed | (negative ? above : 0);
    }
    default:
      return (old & ~mask) | placed;
  }
}

template <class Merge>
void write_active(Wave& wave, const Step& step, Merge merge) {
  uint32_t* row = wave.row(step.destination);
  const uint64_t lanes = wave.exec() & wave.write_lanes;
  if (lanes == wave.lane_bits()) {
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      row[lane] = merge(row[lane], lane);
    }
    return;
  }
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    const uint32_t value = merge(row[lane], lane);
    row[lane] = active(lanes, lane) ? value : row[lane];
  }
}

template <class T>
T scaled(T value, uint8_t output_modifier) {
  constexpr T kFactor[] = {T(1), T(2), T(4), T(0.5)};
  const T result = flush(value * kFactor[output_modifier]);
  return result == T(0) ? T(0) : result;  // -0 becomes +0
}

// ISA document, "Output modifiers": ignored where denormal results are kept and in IEEE mode.
bool scales(const Instruction& instruction, Mode mode, bool keeps) {
  return instruction.output_modifier != 0 && !keeps && !mode.ieee();
}

template <class T>
T clamped(T value, bool dx10) {
  if (std::isnan(value)) {
    return dx10 ? T(0) : value;
  }
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}

}  // namespace

uint32_t scalar32(const Wave& wave, const Source& source) {
  switch (source.kind) {
    case SourceKind::sgpr:
      return wave.sgpr[source.index];
    case SourceKind::constant:
      return static_cast<uint32_t>(source.value);
    case SourceKind::special:
      return special(wave, source.index);
    default:
      return 0;
  }
}

uint64_t scalar64(const Wave& wave, const Source& source) {
  switch (source.kind) {
    case SourceKind::sgpr:
      return source.index == kNull ? 0 : wave.pair(source.index);
    case SourceKind::constant:
      return source.value;
    case SourceKind::special:
      switch (source.index) {
        case 235:
          return kSharedAperture;
        case 236:
          return kSharedAperture | 0xffffffff;
        case 237:
          return kPrivateAperture;
        case 238:
          return kPrivateAperture | 0xffffffff;
        default:
          return special(wave, source.index);
      }
    default:
      return 0;
  }
}

void fetch(Wave& wave, const Step& step, unsigned index, Lanes<uint32_t>& out) {
  const Source& source = step.sources[index];
  if (source.kind == SourceKind::vgpr) {
    std::memcpy(out.of, wave.row(source.index), size_t{wave.lanes} * 4);
    if (index == 0 && step.instruction->dpp.kind != Dpp::Kind::none) {
      apply_dpp(wave, step.instruction->dpp, out);
    }
  } else {
    fill(wave, out, scalar32(wave, source));
  }
  if (source.select != SdwaSelect::dword || source.sign_extend) {
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      out[lane] = select(out[lane], source.select, source.sign_extend);
    }
  }
}

void fetch(Wave& wave, const Step& step, unsigned index, Lanes<uint64_t>& out) {
  const Source& source = step.sources[index];
  if (source.kind == SourceKind::vgpr) {
    const uint32_t *low = wave.row(source.index), *high = wave.row(source.index + 1u);
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      out[lane] = low[lane] | uint64_t{high[lane]} << 32;
    }
    return;
  }
  const uint64_t value = scalar64(wave, source);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    out[lane] = value;
  }
}

void fetch_half(Wave& wave, const Step& step, unsigned index, Lanes<uint16_t>& out) {
  Lanes<uint32_t> raw;
  fetch(wave, step, index, raw);
  const unsigned shift =
      step.instruction->format == Format::vop3 && (step.instruction->op_select >> index & 1) != 0 ? 16 : 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    out[lane] = static_cast<uint16_t>(raw[lane] >> shift);
  }
}

void fetch(Wave& wave, const Step& step, unsigned index, Lanes<float>& out) {
  Lanes<uint32_t> raw;
  fetch(wave, step, index, raw);
  const Source& source = step.sources[index];
  const uint32_t clear = source.absolute ? 0x80000000u : 0, flip = source.negate ? 0x80000000u : 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    out[lane] = std::bit_cast<float>((raw[lane] & ~clear) ^ flip);
  }
  if ((Mode{wave.mode}.denorm32() & 1) == 0) {
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      out[lane] = flush(out[lane]);
    }
  }
}

void fetch(Wave& wave, const Step& step, unsigned index, Lanes<double>& out) {
  Lanes<uint64_t> raw;
  fetch(wave, step, index, raw);
  const Source& source = step.sources[index];
  const uint64_t clear = source.absolute ? 1ull << 63 : 0, flip = source.negate ? 1ull << 63 : 0;
  const bool keeps = (Mode{wave.mode}.denorm64() & 1) != 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    const auto value = std::bit_cast<double>((raw[lane] & ~clear) ^ flip);
    out[lane] = keeps ? value : flush(value);
  }
}

void fetch_float_half(Wave& wave, const Step& step, unsigned index, Lanes<uint16_t>& out) {
  fetch_half(wave, step, index, out);
  const Source& source = step.sources[index];
  const uint16_t clear = source.absolute ? 0x8000 : 0, flip = source.negate ? 0x8000 : 0;
  const bool keeps = (Mode{wave.mode}.denorm64() & 1) != 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    const auto value = static_cast<uint16_t>((out[lane] & ~clear) ^ flip);
    out[lane] = keeps ? value : flush_half(value);
  }
}

uint64_t fetch_mask(const Wave& wave, const Step& step, unsigned index) {
  const Source& source = step.sources[index];
  if (source.kind == SourceKind::sgpr) {
    return wave.mask(source.index);
  }
  return 0;
}

void write(Wave& wave, const Step& step, const Lanes<uint32_t>& value) {
  const Sdwa& sdwa = step.instruction->sdwa;
  if (sdwa.present) {
    write_active(wave, step, [&](uint32_t old, uint32_t lane) { return merge_sdwa(sdwa, old, value[lane]); });
  } else {
    write_active(wave, step, [&](uint32_t, uint32_t lane) { return value[lane]; });
  }
}

void write(Wave& wave, const Step& step, const Lanes<uint64_t>& value) {
  uint32_t *low = wave.row(step.destination), *high = wave.row(step.destination + 1u);
  const uint64_t lanes = wave.exec() & wave.write_lanes;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    if (active(lanes, lane)) {
      low[lane] = static_cast<uint32_t>(value[lane]);
      high[lane] = static_cast<uint32_t>(value[lane] >> 32);
    }
  }
}

void write_half(Wave& wave, const Step& step, const Lanes<uint16_t>& value) {
  const Sdwa& sdwa = step.instruction->sdwa;
  if (sdwa.present) {
    write_active(wave, step, [&](uint32_t old, uint32_t lane) { return merge_sdwa(sdwa, old, value[lane]); });
    return;
  }
  const bool high = step.instruction->format == Format::vop3 && (step.instruction->op_select & 8) != 0;
  write_active(wave, step, [&](uint32_t old, uint32_t lane) {
    return high ? (old & 0xffffu) | uint32_t{value[lane]} << 16 : (old & 0xffff0000u) | value[lane];
  });
}

void write(Wave& wave, const Step& step, Lanes<float>& value) {
  const Mode mode{wave.mode};
  const Instruction& instruction = *step.instruction;
  const bool keeps = (mode.denorm32() & 2) != 0;
  if (scales(instruction, mode, keeps)) {
    const Rounding rounding(mode.round32());
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      value[lane] = scaled(value[lane], instruction.output_modifier);
    }
  }
  if (!keeps) {
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      value[lane] = flush(value[lane]);
    }
  }
  if (instruction.clamp) {
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      value[lane] = clamped(value[lane], mode.dx10_clamp());
    }
  }
  Lanes<uint32_t> bits;
  std::memcpy(bits.of, value.of, sizeof(float) * wave.lanes);
  write(wave, step, bits);
}

void write(Wave& wave, const Step& step, Lanes<double>& value) {
  const Mode mode{wave.mode};
  const bool keeps = (mode.denorm64() & 2) != 0;
  Lanes<uint64_t> bits;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    double result = value[lane];
    if (scales(*step.instruction, mode, keeps)) {
      const Rounding rounding(mode.round64());
      result = scaled(result, step.instruction->output_modifier);
    }
    result = keeps ? result : flush(result);
    result = step.instruction->clamp ? clamped(result, mode.dx10_clamp()) : result;
    bits[lane] = std::bit_cast<uint64_t>(result);
  }
  write(wave, step, bits);
}

void write_float_half(Wave& wave, const Step& step, Lanes<uint16_t>& value) {
  const Mode mode{wave.mode};
  const bool keeps = (mode.denorm64() & 2) != 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    if (scales(*step.instruction, mode, keeps)) {
      // Exact as a double.
      const double exact = scaled(double{half_to_float(value[lane])}, step.instruction->output_modifier);
      value[lane] = flush_half(half_from_double(exact, mode.round64()));
      value[lane] = value[lane] == 0x8000 ? uint16_t{0} : value[lane];
    }
    value[lane] = keeps ? value[lane] : flush_half(value[lane]);
    if (step.instruction->clamp) {
      value[lane] = half_from_double(clamped(double{half_to_float(value[lane])}, mode.dx10_clamp()), 0);
    }
  }
  write_half(wave, step, value);
}

void write_mask(Wave& wave, uint32_t sgpr, uint64_t mask) { wave.set_mask(sgpr, mask & wave.exec()); }

void write_row(Wave& wave, uint32_t vgpr, const Lanes<uint32_t>& value, uint64_t lanes) {
  uint32_t* row = wave.row(vgpr);
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    row[lane] = active(lanes, lane) ? value[lane] : row[lane];
  }
}

}  // namespace orrery::shader::interpret
