// SMEM: scalar loads and stores, direct and through a buffer descriptor.
#include <algorithm>

#include "gpu-service/shader/interpret/lanes.hpp"

namespace orrery::shader::interpret {
namespace {

// Byte offset of the access: immediate plus scalar register.
uint64_t offset_of(const Wave& wave, const Instruction& instruction) {
  const uint32_t scalar =
      instruction.scalar_offset.kind == OperandKind::sgpr ? wave.sgpr[instruction.scalar_offset.index] : 0;
  return static_cast<uint64_t>(int64_t{instruction.memory_offset}) + scalar;
}

uint64_t direct_address(const Wave& wave, const Instruction& instruction) {
  return (wave.pair(instruction.base.index) + offset_of(wave, instruction)) & ~3ull;
}

void load_registers(Wave& wave, const Step& step, uint64_t address, unsigned dwords, unsigned in_range) {
  std::array<uint32_t, 16> values{};
  const auto bytes = std::as_writable_bytes(std::span(values).first(in_range));
  if (in_range != 0) {
    wave.load(step, address, bytes);
  }
  const uint32_t to = step.instruction->data.index;
  for (unsigned i = 0; i < dwords && to != kNull; ++i) {
    wave.set(to + i, values[i]);
  }
}

// Register `i` of the data to store.
uint32_t stored(const Wave& wave, const Step& step, unsigned i) {
  const uint32_t from = step.instruction->data.index;
  return from == kNull ? 0 : wave.sgpr[from + i];
}

template <unsigned kDwords>
void load(Wave& wave, const Step& step) {
  load_registers(wave, step, direct_address(wave, *step.instruction), kDwords, kDwords);
}

template <unsigned kDwords>
void store(Wave& wave, const Step& step) {
  std::array<uint32_t, kDwords> values{};
  for (unsigned i = 0; i < kDwords; ++i) {
    values[i] = stored(wave, step, i);
  }
  wave.store(step, direct_address(wave, *step.instruction), std::as_bytes(std::span(values)));
}

// s_scratch counts the register in units of 64 bytes; where there is private memory it lies outside the guest's.
uint64_t scratch_address(const Wave& wave, const Instruction& instruction) {
  const uint64_t scalar =
      instruction.scalar_offset.kind == OperandKind::sgpr ? wave.sgpr[instruction.scalar_offset.index] : 0;
  return (wave.pair(instruction.base.index) & ~3ull) + scalar * 64 +
         static_cast<uint64_t>(int64_t{instruction.memory_offset & ~3});
}
bool refuses_scratch(Wave& wave, const Step& step) {
  if ((wave.dispatch->rsrc2 & 1) != 0) {
    wave.refuse(step, "scalar access to private memory");
    return true;
  }
  return false;
}
template <unsigned kDwords>
void scratch_load(Wave& wave, const Step& step) {
  if (!refuses_scratch(wave, step)) {
    load_registers(wave, step, scratch_address(wave, *step.instruction), kDwords, kDwords);
  }
}
template <unsigned kDwords>
void scratch_store(Wave& wave, const Step& step) {
  if (refuses_scratch(wave, step)) {
    return;
  }
  std::array<uint32_t, kDwords> values{};
  for (unsigned i = 0; i < kDwords; ++i) {
    values[i] = stored(wave, step, i);
  }
  wave.store(step, scratch_address(wave, *step.instruction), std::as_bytes(std::span(values)));
}

struct ScalarBuffer {
  uint64_t base;
  uint64_t size;  // bytes
};
ScalarBuffer scalar_buffer(const Wave& wave, const Instruction& instruction) {
  const uint32_t* v = &wave.sgpr[instruction.base.index];
  const uint64_t stride = v[1] >> 16 & 0x3fff;
  return {v[0] | uint64_t{v[1] & 0xffff} << 32, stride == 0 ? v[2] : v[2] * stride};
}

// Dwords behind the buffer's end read 0.
template <unsigned kDwords>
void buffer_load(Wave& wave, const Step& step) {
  const ScalarBuffer buffer = scalar_buffer(wave, *step.instruction);
  const uint64_t offset = offset_of(wave, *step.instruction) & ~3ull;
  const uint64_t room = offset < buffer.size ? (buffer.size - offset) / 4 : 0;
  load_registers(wave, step, (buffer.base & ~3ull) + offset, kDwords,
                 static_cast<unsigned>(std::min<uint64_t>(room, kDwords)));
}
template <unsigned kDwords>
void buffer_store(Wave& wave, const Step& step) {
  const ScalarBuffer buffer = scalar_buffer(wave, *step.instruction);
  const uint64_t offset = offset_of(wave, *step.instruction) & ~3ull;
  for (unsigned i = 0; i < kDwords; ++i) {
    if (offset + 4 * i + 4 <= buffer.size) {
      const uint32_t value = stored(wave, step, i);
      wave.store(step, (buffer.base & ~3ull) + offset + 4 * i, std::as_bytes(std::span(&value, 1)));
    }
  }
}

// One access of the wave. Data, and behind it what memory must hold, are in one register range.
void update(Wave& wave, const Step& step, uint64_t address) {
  const Instruction& instruction = *step.instruction;
  const MemoryShape& shape = step.memory;
  const auto operand = [&](uint32_t at) {
    const uint32_t reg = instruction.data.index + at;
    return shape.bytes == 8 ? wave.pair(reg) : wave.sgpr[reg];
  };
  const uint64_t second = shape.compares ? operand(shape.bytes / 4u) : 0;
  address &= ~uint64_t{shape.bytes - 1u};
  uint64_t old = 0;
  wave.load(step, address, std::as_writable_bytes(std::span(&old, 1)).first(shape.bytes));
  const uint64_t changed = shape.atomic(old, operand(0), second);
  wave.store(step, address, std::as_bytes(std::span(&changed, 1)).first(shape.bytes));
  if (!instruction.glc) {
    return;
  }
  if (shape.bytes == 8) {
    wave.set_pair(instruction.data.index, old);
  } else {
    wave.set(instruction.data.index, static_cast<uint32_t>(old));
  }
}
void atomic(Wave& wave, const Step& step) { update(wave, step, direct_address(wave, *step.instruction)); }
// In range whole or not at all: then nothing is changed and 0 returned.
void buffer_atomic(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const ScalarBuffer buffer = scalar_buffer(wave, instruction);
  const uint64_t offset = offset_of(wave, instruction) & ~3ull;
  if (offset + step.memory.bytes <= buffer.size) {
    update(wave, step, (buffer.base & ~3ull) + offset);
  } else if (instruction.glc) {
    wave.set(instruction.data.index, 0);
    if (step.memory.bytes == 8) {
      wave.set(instruction.data.index + 1u, 0);
    }
  }
}

// Time passes with the steps of the dispatch.
void time(Wave& wave, const Step& step) { wave.set_pair(step.instruction->data.index, wave.outcome->steps); }
void wave_id(Wave& wave, const Step& step) { wave.set(step.instruction->data.index, wave.index_in_group); }
void nothing(Wave&, const Step&) {}

}  // namespace

Handler scalar_memory_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_load_dword:
      return load<1>;
    case Opcode::s_load_dwordx2:
      return load<2>;
    case Opcode::s_load_dwordx4:
      return load<4>;
    case Opcode::s_load_dwordx8:
      return load<8>;
    case Opcode::s_load_dwordx16:
      return load<16>;
    case Opcode::s_buffer_load_dword:
      return buffer_load<1>;
    case Opcode::s_buffer_load_dwordx2:
      return buffer_load<2>;
    case Opcode::s_buffer_load_dwordx4:
      return buffer_load<4>;
    case Opcode::s_buffer_load_dwordx8:
      return buffer_load<8>;
    case Opcode::s_buffer_load_dwordx16:
      return buffer_load<16>;
    case Opcode::s_store_dword:
      return store<1>;
    case Opcode::s_store_dwordx2:
      return store<2>;
    case Opcode::s_store_dwordx4:
      return store<4>;
    case Opcode::s_buffer_store_dword:
      return buffer_store<1>;
    case Opcode::s_buffer_store_dwordx2:
      return buffer_store<2>;
    case Opcode::s_buffer_store_dwordx4:
      return buffer_store<4>;
    case Opcode::s_scratch_load_dword:
      return scratch_load<1>;
    case Opcode::s_scratch_load_dwordx2:
      return scratch_load<2>;
    case Opcode::s_scratch_load_dwordx4:
      return scratch_load<4>;
    case Opcode::s_scratch_store_dword:
      return scratch_store<1>;
    case Opcode::s_scratch_store_dwordx2:
      return scratch_store<2>;
    case Opcode::s_scratch_store_dwordx4:
      return scratch_store<4>;
    case Opcode::s_memtime:
    case Opcode::s_memrealtime:
      return time;
    case Opcode::s_get_waveid_in_workgroup:
      return wave_id;
    case Opcode::s_dcache_inv:
    case Opcode::s_dcache_wb:
    case Opcode::s_dcache_discard:
    case Opcode::s_dcache_discard_x2:
    case Opcode::s_gl1_inv:
    case Opcode::s_atc_probe:
    case Opcode::s_atc_probe_buffer:
      return nothing;
    default:
      break;
  }
  if (!memory_shape(opcode)) {
    return nullptr;
  }
  return mnemonic(opcode).starts_with("s_buffer_") ? buffer_atomic : atomic;
}

}  // namespace orrery::shader::interpret
