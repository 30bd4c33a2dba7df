// A dispatch: its groups one after another, a group's waves in turns until each ends or waits at a barrier.
#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/shader/interpret/engine.hpp"
#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

// A wave that waits for another one of its group by polling gets there after so many steps.
constexpr uint64_t kTurn = 100'000;

uint32_t bits(uint32_t word, unsigned first, unsigned count) { return word >> first & ((1u << count) - 1); }

class Run {
 public:
  Run(const Dispatch& dispatch, GuestBytes& memory) : dispatch_(dispatch), memory_(memory), engine_(dispatch, memory) {}

  Outcome some(std::span<const std::array<uint32_t, 3>> groups) {
    if (!wave_is_known()) {
      return outcome_;
    }
    for (size_t i = 0; i < groups.size() && !outcome_.refusal; ++i) {
      group(groups[i]);
    }
    return outcome_;
  }

  Outcome all() {
    if (!wave_is_known()) {
      return outcome_;
    }
    for (uint32_t z = 0; z < dispatch_.groups[2] && !outcome_.refusal; ++z) {
      for (uint32_t y = 0; y < dispatch_.groups[1] && !outcome_.refusal; ++y) {
        for (uint32_t x = 0; x < dispatch_.groups[0] && !outcome_.refusal; ++x) {
          group({dispatch_.first_group[0] + x, dispatch_.first_group[1] + y, dispatch_.first_group[2] + z});
        }
      }
    }
    return outcome_;
  }

 private:
  bool wave_is_known() {
    if (dispatch_.wave != 32 && dispatch_.wave != 64) {
      refuse(fmt::format("wave width {}", dispatch_.wave));
      return false;
    }
    return true;
  }

  void refuse(std::string reason) {
    if (!outcome_.refusal) {
      outcome_.refusal = ShaderRefusal{0, "program", std::move(reason)};
    }
  }

  void group(std::array<uint32_t, 3> id) {
    // A partial group is smaller, and its lanes are packed as a full group of that size would be.
    std::array<uint32_t, 3> size = dispatch_.group_size;
    for (unsigned i = 0; i < 3; ++i) {
      if (dispatch_.threads[i] != 0) {
        const uint64_t first = uint64_t{id[i]} * dispatch_.group_size[i];
        size[i] = first >= dispatch_.threads[i]
                      ? 0
                      : static_cast<uint32_t>(std::min<uint64_t>(size[i], dispatch_.threads[i] - first));
      }
    }
    const uint64_t threads = uint64_t{size[0]} * size[1] * size[2];
    if (threads == 0) {
      // Empty groups cost a step, so that a nonsensical number of them ends too.
      if (++outcome_.steps >= dispatch_.step_limit) {
        refuse(fmt::format("more than {} empty groups", dispatch_.step_limit));
      }
      return;
    }
    if (threads > 1024) {
      refuse(fmt::format("{} threads in a group", threads));
      return;
    }
    const auto waves = static_cast<uint32_t>((threads + dispatch_.wave - 1) / dispatch_.wave);
    shared_.lds.assign(size_t{bits(dispatch_.rsrc2, 15, 9)} * 512, std::byte{0});
    shared_.scratch.assign(size_t{dispatch_.scratch_dwords} * 4 * dispatch_.wave * waves, std::byte{0});
    waves_.resize(waves);
    for (uint32_t i = 0; i < waves; ++i) {
      start(waves_[i], i, id, size, threads);
    }
    run_waves();
  }

  void start(Wave& wave, uint32_t number, std::array<uint32_t, 3> id, std::array<uint32_t, 3> size, uint64_t threads) {
    auto vgprs = std::move(wave.vgprs);
    wave = Wave{};
    wave.vgprs = std::move(vgprs);
    wave.lanes = dispatch_.wave;
    wave.vgprs.assign(size_t{256} * wave.lanes, 0);
    wave.group = &shared_;
    wave.memory = &memory_;
    wave.outcome = &outcome_;
    wave.dispatch = &dispatch_;
    wave.engine = &engine_;
    wave.index_in_group = number;
    wave.waves_in_group = static_cast<uint32_t>(waves_.size());
    wave.mode = bits(dispatch_.rsrc1, 12, 8) | bits(dispatch_.rsrc1, 21, 1) << 8 | bits(dispatch_.rsrc1, 23, 1) << 9;
    initial_scalars(wave, number, id);
    // VGPRs: local ids as TIDIG_COMP_CNT asks; lanes behind the group's end are off.
    const uint32_t components = bits(dispatch_.rsrc2, 11, 2);
    uint64_t exec = 0;
    for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
      const uint64_t thread = uint64_t{number} * wave.lanes + lane;
      if (thread >= threads) {
        break;
      }
      exec |= uint64_t{1} << lane;
      const auto t = static_cast<uint32_t>(thread);
      wave.row(0)[lane] = t % size[0];
      if (components >= 1) {
        wave.row(1)[lane] = t / size[0] % size[1];
      }
      if (components >= 2) {
        wave.row(2)[lane] = t / (size[0] * size[1]);
      }
    }
    wave.set_pair(kExec, exec);
  }

  // User SGPRs, then the system's in the order of the ISA document ("SGPR initialization", compute).
  void initial_scalars(Wave& wave, uint32_t number, std::array<uint32_t, 3> id) {
    const uint32_t user = std::min(bits(dispatch_.rsrc2, 1, 5), 16u);
    for (uint32_t i = 0; i < user; ++i) {
      wave.sgpr[i] = dispatch_.user_data[i];
    }
    const uint32_t per_wave = dispatch_.scratch_dwords * 4 * dispatch_.wave;
    if (const auto at = dispatch_.private_buffer_sgpr; at && *at + 4 <= user) {
      // Swizzled by lane: element 4 bytes, index stride = wave width, ADD_TID_ENABLE; bounds as raw.
      wave.sgpr[*at] = static_cast<uint32_t>(kScratchBase);
      wave.sgpr[*at + 1] = static_cast<uint32_t>(kScratchBase >> 32) | 1u << 31;
      wave.sgpr[*at + 2] = 0xffffffff;
      wave.sgpr[*at + 3] = (dispatch_.wave == 64 ? 3u : 2u) << 21 | 1u << 23 | 3u << 28;
    }
    if (const auto at = dispatch_.flat_scratch_sgpr; at && *at + 2 <= user) {
      wave.set_pair(*at, kScratchBase);
    }
    wave.flat_scratch = kScratchBase + uint64_t{number} * per_wave;
    uint32_t next = user;
    for (unsigned i = 0; i < 3; ++i) {
      if (bits(dispatch_.rsrc2, 7 + i, 1) != 0) {
        wave.sgpr[next++] = id[i];
      }
    }
    if (bits(dispatch_.rsrc2, 10, 1) != 0) {  // TG_SIZE_EN: waves in the group, and the wave's number
      wave.sgpr[next++] = wave.waves_in_group | number << 6 | (number == 0 ? 1u << 31 : 0);
    }
    if (bits(dispatch_.rsrc2, 0, 1) != 0) {
      wave.sgpr[next++] = number * per_wave;
    }
  }

  void run_waves() {
    for (bool alive = true; alive && !outcome_.refusal;) {
      alive = false;
      bool moved = false;
      for (Wave& wave : waves_) {
        if (wave.stop == Stop::none) {
          turn(wave);
          moved = true;
        }
        alive = alive || wave.stop == Stop::none || wave.stop == Stop::barrier;
        if (outcome_.refusal) {
          return;
        }
      }
      // Everybody who still runs has come to the barrier.
      if (!moved || std::ranges::none_of(waves_, [](const Wave& wave) { return wave.stop == Stop::none; })) {
        for (Wave& wave : waves_) {
          wave.stop = wave.stop == Stop::barrier ? Stop::none : wave.stop;
        }
      }
    }
  }

  void turn(Wave& wave) {
    uint64_t steps = 0, lane_instructions = 0;
    const uint64_t allowed = std::min(kTurn, dispatch_.step_limit - std::min(dispatch_.step_limit, outcome_.steps));
    while (steps < allowed && wave.stop == Stop::none) {
      if (wave.next == kNoStep) {
        refuse("runs into code that was not read as part of the program");
        break;
      }
      const Step& step = engine_.step(wave.next);
      const bool is_vector = step.is_vector;  // a jump may read code and move the steps
      wave.next = step.next;
      wave.write_lanes = ~0ull;
      step.run(wave, step);
      ++steps;
      lane_instructions += is_vector ? static_cast<uint64_t>(std::popcount(wave.exec())) : 1;
    }
    outcome_.steps += steps;
    outcome_.lane_instructions += lane_instructions;
    if (outcome_.steps >= dispatch_.step_limit && wave.stop == Stop::none) {
      refuse(fmt::format("more than {} steps: an endless loop, or raise the limit", dispatch_.step_limit));
    }
  }

  const Dispatch& dispatch_;
  GuestBytes& memory_;
  Engine engine_;
  Group shared_;
  std::vector<Wave> waves_;
  Outcome outcome_;
};

void note_escape(Wave& wave, const Step& step, uint64_t address, bool is_store) {
  Escapes& escapes = wave.outcome->escapes;
  if (escapes.count++ == 0) {
    escapes.instruction = step.offset();
    escapes.address = address;
    escapes.is_store = is_store;
  }
}

}  // namespace

void Wave::refuse(const Step& step, std::string reason) {
  stop = Stop::refused;
  if (!outcome->refusal) {
    outcome->refusal = ShaderRefusal{step.offset(), std::string(mnemonic(step.instruction->opcode)), std::move(reason)};
  }
}

void Wave::load(const Step& step, uint64_t address, std::span<std::byte> out) {
  if (step.place_only) {
    if (!memory->touch(address, out.size(), false)) note_escape(*this, step, address, false);
    return;
  }
  if (address - kScratchBase < group->scratch.size() &&
      out.size() <= group->scratch.size() - (address - kScratchBase)) {
    std::memcpy(out.data(), group->scratch.data() + (address - kScratchBase), out.size());
  } else if (!memory->read(address, out)) {
    std::memset(out.data(), 0, out.size());
    note_escape(*this, step, address, false);
  }
}

void Wave::store(const Step& step, uint64_t address, std::span<const std::byte> bytes) {
  if (step.place_only) {
    if (!memory->touch(address, bytes.size(), true)) note_escape(*this, step, address, true);
    return;
  }
  if (address - kScratchBase < group->scratch.size() &&
      bytes.size() <= group->scratch.size() - (address - kScratchBase)) {
    std::memcpy(group->scratch.data() + (address - kScratchBase), bytes.data(), bytes.size());
  } else if (!memory->write(address, bytes)) {
    note_escape(*this, step, address, true);
  }
}

Outcome run(const Dispatch& dispatch, GuestBytes& memory) { return Run(dispatch, memory).all(); }

Outcome run_groups(const Dispatch& dispatch, std::span<const std::array<uint32_t, 3>> groups, GuestBytes& memory) {
  return Run(dispatch, memory).some(groups);
}

}  // namespace orrery::shader::interpret
