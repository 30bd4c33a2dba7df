// FLAT, GLOBAL and SCRATCH.
#include "gpu-service/shader/interpret/memory_access.hpp"

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;

uint64_t signed_offset(const Step& step) { return static_cast<uint64_t>(int64_t{step.instruction->memory_offset}); }

uint64_t vector_address(Wave& wave, const Step& step, u32 lane) {
  const u32 reg = step.instruction->address.index;
  return wave.row(reg)[lane] | uint64_t{wave.row(reg + 1u)[lane]} << 32;
}

void global(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const uint64_t offset = signed_offset(step);
  const GuestSpace space{wave, step};
  const auto move = [&](auto address_of) {
    if (!instruction.lds) {
      access(wave, step, space, address_of);
      return;
    }
    load_to_local(wave, step, [&](u32 lane) { return load_value(step.memory, space, address_of(lane)); });
  };
  if (step.memory.by_lane) {
    const uint64_t base = (instruction.base.kind == OperandKind::sgpr ? wave.pair(instruction.base.index) : 0) + offset;
    move([&](u32 lane) { return base + 4 * lane; });
    return;
  }
  if (instruction.base.kind == OperandKind::sgpr) {
    const uint64_t base = wave.pair(instruction.base.index) + offset;
    move([&](u32 lane) { return base + wave.row(instruction.address.index)[lane]; });
  } else {
    move([&](u32 lane) { return vector_address(wave, step, lane) + offset; });
  }
}

// Private memory interleaves the lanes dword by dword.
uint64_t private_address(const Wave& wave, uint64_t offset, u32 lane) {
  return wave.flat_scratch + (offset & ~3ull) * wave.lanes + 4 * lane + (offset & 3);
}

// An access of one lane to private memory, dword by dword.
struct PrivateSpace {
  Wave& wave;
  const Step& step;
  u32 lane;
  void load(uint64_t offset, std::span<std::byte> out) const {
    for (size_t i = 0; i < out.size();) {
      const size_t piece = std::min<size_t>(4 - ((offset + i) & 3), out.size() - i);
      wave.load(step, private_address(wave, offset + i, lane), out.subspan(i, piece));
      i += piece;
    }
  }
  void store(uint64_t offset, std::span<const std::byte> bytes) const {
    for (size_t i = 0; i < bytes.size();) {
      const size_t piece = std::min<size_t>(4 - ((offset + i) & 3), bytes.size() - i);
      wave.store(step, private_address(wave, offset + i, lane), bytes.subspan(i, piece));
      i += piece;
    }
  }
};

// Which memory a flat address means is its aperture's; each lane may mean another.
struct FlatSpace {
  Wave& wave;
  const Step& step;
  u32& lane;
  template <class Use>
  void with_space(uint64_t address, Use use) const {
    const uint64_t aperture = address & 0xffffffff00000000;
    if (aperture == kSharedAperture) {
      use(LocalSpace{*wave.group}, address & 0xffffffff);
    } else if (aperture == kPrivateAperture) {
      use(PrivateSpace{wave, step, lane}, address & 0xffffffff);
    } else {
      use(GuestSpace{wave, step}, address);
    }
  }
  void load(uint64_t address, std::span<std::byte> out) const {
    with_space(address, [&](const auto& space, uint64_t at) { space.load(at, out); });
  }
  void store(uint64_t address, std::span<const std::byte> bytes) const {
    with_space(address, [&](const auto& space, uint64_t at) { space.store(at, bytes); });
  }
};

void flat(Wave& wave, const Step& step) {
  u32 current = 0;
  const uint64_t offset = signed_offset(step);
  access(wave, step, FlatSpace{wave, step, current}, [&](u32 lane) {
    current = lane;
    return vector_address(wave, step, lane) + offset;
  });
}

struct ScratchSpace {
  Wave& wave;
  const Step& step;
  u32& lane;
  void load(uint64_t offset, std::span<std::byte> out) const { PrivateSpace{wave, step, lane}.load(offset, out); }
  void store(uint64_t offset, std::span<const std::byte> bytes) const {
    PrivateSpace{wave, step, lane}.store(offset, bytes);
  }
};
void scratch(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const u32 scalar = instruction.base.kind == OperandKind::sgpr ? wave.sgpr[instruction.base.index] : 0;
  u32 current = 0;
  const auto address_of = [&](u32 lane) {
    current = lane;
    const u32 vector = instruction.address.kind == OperandKind::vgpr ? wave.row(instruction.address.index)[lane] : 0;
    return uint64_t{static_cast<u32>(scalar + vector + static_cast<u32>(instruction.memory_offset))};
  };
  const ScratchSpace space{wave, step, current};
  if (!instruction.lds) {
    access(wave, step, space, address_of);
    return;
  }
  load_to_local(wave, step, [&](u32 lane) {
    const uint64_t address = address_of(lane);
    return load_value(step.memory, space, address);
  });
}

}  // namespace

Handler flat_memory_handler(const Instruction& instruction) {
  const auto shape = memory_shape(instruction.opcode);
  if (!shape || (instruction.lds && (shape->d16 || shape->bytes > 4))) {
    return nullptr;
  }
  switch (instruction.format) {
    case Format::global:
      return global;
    case Format::scratch:
      return scratch;
    // gfx10.1 does not apply an offset in plain FLAT; compilers leave it 0.
    default:
      return instruction.memory_offset == 0 ? flat : nullptr;
  }
}

}  // namespace orrery::shader::interpret
