// DS: the group's LDS, and the lane exchanges that share its encoding.
#include "gpu-service/shader/interpret/memory_access.hpp"

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;

uint64_t base_of(Wave& wave, const Step& step, u32 lane) { return wave.row(step.instruction->address.index)[lane]; }

void single(Wave& wave, const Step& step) {
  const LocalSpace space{*wave.group};
  const auto offset = static_cast<uint64_t>(step.instruction->memory_offset);
  if (step.memory.kind != MemoryShape::Kind::atomic) {
    access(wave, step, space, [&](u32 lane) { return base_of(wave, step, lane) + offset; });
    return;
  }
  // Two data operands have registers of their own.
  const Instruction& instruction = *step.instruction;
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (active(exec, lane)) {
      const uint64_t first = read_value(wave, instruction.data.index, lane, step.memory.bytes);
      const uint64_t second = instruction.data2.kind == OperandKind::vgpr
                                  ? read_value(wave, instruction.data2.index, lane, step.memory.bytes)
                                  : 0;
      const uint64_t old = atomic_lane(step.memory, space, base_of(wave, step, lane) + offset, first, second);
      if (step.has_destination) {
        write_value(wave, instruction.destination.index, lane, step.memory.bytes, old);
      }
    }
  }
}

// Rounds to nearest even whatever MODE says; denormals are MODE's.
void add_floats(Wave& wave, const Step& step) {
  const LocalSpace space{*wave.group};
  const Instruction& instruction = *step.instruction;
  const unsigned keeps = Mode{wave.mode}.denorm32();
  const auto input = [&](u32 bits) {
    const float value = std::bit_cast<float>(bits);
    return (keeps & 1) != 0 ? value : flush(value);
  };
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (!active(exec, lane)) {
      continue;
    }
    const uint64_t address = (base_of(wave, step, lane) + static_cast<uint64_t>(instruction.memory_offset)) & ~3ull;
    u32 old = 0;
    space.load(address, std::as_writable_bytes(std::span(&old, 1)));
    const float sum = input(old) + input(wave.row(instruction.data.index)[lane]);
    const float changed = (keeps & 2) != 0 ? sum : flush(sum);
    space.store(address, std::as_bytes(std::span(&changed, 1)));
    if (step.has_destination) {
      wave.row(instruction.destination.index)[lane] = old;
    }
  }
}

// The operand lies in LDS at A + 4 * (offset[15] ? A[31:17] : offset[14:0]), both signed; with A[31:17] in use the
// address is A[16:0].
void from_local(Wave& wave, const Step& step) {
  const LocalSpace space{*wave.group};
  const auto offset = static_cast<u32>(step.instruction->memory_offset);
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (!active(exec, lane)) {
      continue;
    }
    auto target = static_cast<u32>(base_of(wave, step, lane));
    int32_t distance = static_cast<int32_t>(offset << 17) >> 17;
    if ((offset & 0x8000) != 0) {
      distance = static_cast<int32_t>(target) >> 17;
      target &= 0x1ffff;
    }
    uint64_t operand = 0;
    space.load(target + static_cast<u32>(4 * distance),
               std::as_writable_bytes(std::span(&operand, 1)).first(step.memory.bytes));
    atomic_lane(step.memory, space, target, operand, 0);
  }
}

void pair(Wave& wave, const Step& step) {
  const LocalSpace space{*wave.group};
  const Instruction& instruction = *step.instruction;
  const MemoryShape& shape = step.memory;
  const uint64_t unit = shape.bytes * (shape.stride64 ? 64u : 1u);
  const uint64_t offsets[] = {static_cast<uint64_t>(instruction.memory_offset) * unit, instruction.offset1 * unit};
  const u32 data[] = {instruction.data.index, instruction.data2.index};
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (!active(exec, lane)) {
      continue;
    }
    const uint64_t base = base_of(wave, step, lane);  // read first: a load may overwrite its address
    const uint64_t first = shape.kind == MemoryShape::Kind::atomic ? read_value(wave, data[0], lane, shape.bytes) : 0;
    const uint64_t second = shape.kind == MemoryShape::Kind::atomic ? read_value(wave, data[1], lane, shape.bytes) : 0;
    for (unsigned i = 0; i < 2; ++i) {
      const u32 to = instruction.destination.index + i * shape.bytes / 4u;
      switch (shape.kind) {
        case MemoryShape::Kind::load:
          load_lane(wave, shape, space, base + offsets[i], to, lane);
          break;
        case MemoryShape::Kind::store:
          store_lane(wave, shape, space, base + offsets[i], data[i], lane);
          break;
        case MemoryShape::Kind::atomic:
          write_value(wave, to, lane, shape.bytes,
                      atomic_lane(shape, space, base + offsets[i], i == 0 ? first : second, 0));
          break;
      }
    }
  }
}

// The lane of a half that one of its lanes reads, by swizzle pattern. ISA document, DS_SWIZZLE_B32.
u32 swizzled(u32 pattern, u32 lane) {
  const u32 low = pattern & 31, middle = pattern >> 5 & 31;
  if (pattern >= 0xe000) {
    u32 reversed = 0;
    for (u32 bit = 0; bit < 5; ++bit) {
      reversed |= (lane >> bit & 1) << (4 - bit);
    }
    return reversed >> std::popcount(low) | (lane & low);
  }
  if (pattern >= 0xc000) {
    const u32 moved = (pattern >> 10 & 1) != 0 ? lane + 32 - middle : lane + middle;
    return (lane & low) | (moved & ~low & 31);
  }
  if ((pattern & 0x8000) != 0) {
    return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
  }
  return ((lane & low) | middle) ^ (pattern >> 10 & 31);
}
void swizzle(Wave& wave, const Step& step) {
  const auto pattern = static_cast<u32>(step.instruction->memory_offset);
  const u32* from = wave.row(step.instruction->address.index);
  const uint64_t exec = wave.exec();
  Lanes<u32> r;
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const u32 source = swizzled(pattern, lane & 31) | (lane & 32);
    r[lane] = active(exec, source) ? from[source] : 0;
  }
  write_row(wave, step.instruction->destination.index, r, exec);
}

// In wave64 each half of 32 lanes permutes within itself.
u32 permuted_lane(Wave& wave, const Step& step, u32 lane) {
  const u32 address =
      wave.row(step.instruction->address.index)[lane] + static_cast<u32>(step.instruction->memory_offset);
  return (lane & 32) | (address >> 2 & 31);
}
void backward_permute(Wave& wave, const Step& step) {
  const u32* from = wave.row(step.instruction->data.index);
  const uint64_t exec = wave.exec();
  Lanes<u32> r;
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    const u32 source = permuted_lane(wave, step, lane);
    r[lane] = active(exec, source) ? from[source] : 0;
  }
  write_row(wave, step.instruction->destination.index, r, exec);
}
void forward_permute(Wave& wave, const Step& step) {
  const u32* from = wave.row(step.instruction->data.index);
  const uint64_t exec = wave.exec();
  Lanes<u32> r{};
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (active(exec, lane)) {
      r[permuted_lane(wave, step, lane)] = from[lane];  // the highest lane wins
    }
  }
  write_row(wave, step.instruction->destination.index, r, exec);
}

// Adds or takes the number of active lanes at a counter; all get its old value.
template <bool kAdd>
void count(Wave& wave, const Step& step) {
  const LocalSpace space{*wave.group};
  const uint64_t exec = wave.exec();
  const auto lanes = static_cast<u32>(std::popcount(exec));
  const uint64_t address = (wave.sgpr[kM0] & 0xffff) + static_cast<uint64_t>(step.instruction->memory_offset);
  u32 value = 0;
  space.load(address, std::as_writable_bytes(std::span(&value, 1)));
  const u32 changed = kAdd ? value + lanes : value - lanes;
  if (exec != 0) {
    space.store(address, std::as_bytes(std::span(&changed, 1)));
  }
  Lanes<u32> r;
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    r[lane] = value;
  }
  write_row(wave, step.instruction->destination.index, r, exec);
}

// Addresses by lane number.
void with_lane_number(Wave& wave, const Step& step) {
  const LocalSpace space{*wave.group};
  const uint64_t exec = wave.exec(),
                 base = (wave.sgpr[kM0] & 0xffff) + static_cast<uint64_t>(step.instruction->memory_offset);
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (active(exec, lane)) {
      if (step.has_destination) {
        load_lane(wave, step.memory, space, base + 4 * lane, step.instruction->destination.index, lane);
      } else {
        store_lane(wave, step.memory, space, base + 4 * lane, step.instruction->data.index, lane);
      }
    }
  }
}

void nothing(Wave&, const Step&) {}

}  // namespace

Handler local_memory_handler(const Instruction& instruction) {
  if (instruction.gds) {
    return nullptr;
  }
  switch (instruction.opcode) {
    case Opcode::ds_swizzle_b32:
      return swizzle;
    case Opcode::ds_permute_b32:
      return forward_permute;
    case Opcode::ds_bpermute_b32:
      return backward_permute;
    case Opcode::ds_append:
      return count<true>;
    case Opcode::ds_consume:
      return count<false>;
    case Opcode::ds_read_addtid_b32:
    case Opcode::ds_write_addtid_b32:
      return with_lane_number;
    case Opcode::ds_add_f32:
    case Opcode::ds_add_rtn_f32:
      return add_floats;
    case Opcode::ds_nop:
      return nothing;
    default:
      break;
  }
  const auto shape = memory_shape(instruction.opcode);
  if (!shape) {
    return nullptr;
  }
  return shape->from_lds ? from_local : shape->addresses == 2 ? pair : single;
}

}  // namespace orrery::shader::interpret
