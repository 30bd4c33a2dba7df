// MUBUF and MTBUF: raw, structured and typed buffers. Out of range: loads give 0, stores and atomics do nothing, dword
// by dword; the first byte of a dword decides. Atomics and typed elements are in range whole or not at all. Addresses
// are aligned to what is accessed, dwords at most (64-bit atomics: 8 bytes).
#include "gpu-service/shader/decode/buffer_format.hpp"
#include "gpu-service/shader/interpret/buffer_descriptor.hpp"
#include "gpu-service/shader/interpret/memory_access.hpp"
#include "gpu-service/shader/interpret/typed_registers.hpp"

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;

struct Place {
  uint64_t index = 0, offset = 0;
};

Place place_of(Wave& wave, const Instruction& instruction, const BufferDescriptor& buffer, u32 lane) {
  Place place;
  u32 reg = instruction.address.index;
  if (instruction.idxen) {
    place.index = wave.row(reg++)[lane];
  }
  if (instruction.offen) {
    place.offset = wave.row(reg)[lane];
  }
  place.index += buffer.add_lane ? lane : 0;
  place.offset += static_cast<uint64_t>(instruction.memory_offset);
  // Private memory is not range-checked since gfx9, so LLVM folds negative bases into the offset (its
  // privateMemoryResourceIsRangeChecked): the sum wraps.
  if (buffer.swizzled && buffer.add_lane && buffer.records == ~0u) place.offset = static_cast<uint32_t>(place.offset);
  return place;
}

// One lane's window into the buffer; addresses handed to it count from the lane's place.
struct BufferSpace {
  Wave& wave;
  const Step& step;
  const BufferDescriptor& buffer;
  Place& place;
  uint64_t scalar;

  template <class Use>
  void each_piece(size_t size, Use use) const {
    const bool whole = step.memory.kind == MemoryShape::Kind::atomic;
    for (size_t at = 0; at < size;) {
      const size_t piece = whole ? size : std::min<size_t>(size - at, 4);
      if (buffer.in_range(place.index, place.offset + at, whole ? piece : 1, scalar)) {
        const uint64_t address = buffer.base + scalar + buffer.place(place.index, place.offset + at);
        use(address & ~uint64_t{piece - 1}, at, piece);
      }
      at += piece;
    }
  }
  void load(uint64_t, std::span<std::byte> out) const {
    std::memset(out.data(), 0, out.size());
    each_piece(out.size(),
               [&](uint64_t address, size_t at, size_t size) { wave.load(step, address, out.subspan(at, size)); });
  }
  void store(uint64_t, std::span<const std::byte> bytes) const {
    each_piece(bytes.size(),
               [&](uint64_t address, size_t at, size_t size) { wave.store(step, address, bytes.subspan(at, size)); });
  }
};

BufferDescriptor descriptor_of(const Wave& wave, const Instruction& instruction) {
  return BufferDescriptor::read(std::span(wave.sgpr).subspan(instruction.resource.index, 4));
}
u32 scalar_offset(const Wave& wave, const Instruction& instruction) {
  const Operand& offset = instruction.scalar_offset;
  return offset.kind == OperandKind::sgpr ? wave.sgpr[offset.index] : offset.value;
}

// The status dword of TFE: everything is resident.
void write_status(Wave& wave, const Step& step, u32 registers) {
  if (step.instruction->tfe) {
    write_row(wave, step.instruction->destination.index + registers, Lanes<u32>{}, wave.exec());
  }
}

void buffer_access(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const BufferDescriptor buffer = descriptor_of(wave, instruction);
  Place place;
  const BufferSpace space{wave, step, buffer, place, scalar_offset(wave, instruction)};
  if (instruction.lds) {
    load_to_local(wave, step, [&](u32 lane) {
      place = place_of(wave, instruction, buffer, lane);
      return load_value(step.memory, space, 0);
    });
    return;
  }
  access(wave, step, space, [&](u32 lane) {
    place = place_of(wave, instruction, buffer, lane);
    return uint64_t{0};
  });
  write_status(wave, step, (step.memory.bytes + 3) / 4);
}

// The pieces of a typed element: one byte, one half or dwords, which a swizzled buffer may hold apart.
template <class Use>
void each_piece(const BufferDescriptor& buffer, const Place& place, u32 scalar, u32 bytes, Use use) {
  for (u32 at = 0; at < bytes; at += 4) {
    const u32 piece = std::min(bytes - at, 4u);
    const uint64_t address = buffer.base + scalar + buffer.place(place.index, place.offset + at);
    use(address & ~uint64_t{piece - 1}, at, piece);
  }
}

// With conversion: the format is the descriptor's (MUBUF) or the instruction's (MTBUF). A number that is no format
// gives zeros and stores nothing. A store of fewer components than the format has writes 0 into the rest.
void typed_access(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const BufferDescriptor buffer = descriptor_of(wave, instruction);
  const u32 format = instruction.format == Format::mtbuf ? instruction.data_format : buffer.format;
  const auto known = element_layout(format);
  const ElementLayout layout = known.value_or(ElementLayout{.numeric = Numeric::unorm});
  const MemoryShape& shape = step.memory;
  const u32 scalar = scalar_offset(wave, instruction);
  const auto inside = [&](const Place& place) {
    return known && buffer.in_range(place.index, place.offset, layout.bytes(), scalar);
  };
  const auto load = [&](u32 lane) {
    const Place place = place_of(wave, instruction, buffer, lane);
    std::array<u32, 4> components{};
    if (inside(place)) {
      std::array<u32, 4> memory{};
      each_piece(buffer, place, scalar, layout.bytes(), [&](uint64_t address, u32 at, u32 size) {
        wave.load(step, address, std::as_writable_bytes(std::span(memory)).subspan(at, size));
      });
      components = unpack(layout, memory);
    }
    // Out of range a constant 1 of the swizzle stays 1.
    return select(layout, components, buffer.select);
  };
  if (instruction.lds) {
    load_to_local(wave, step, [&](u32 lane) { return load(lane)[0]; });
    return;
  }
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (!active(exec, lane)) {
      continue;
    }
    if (shape.kind == MemoryShape::Kind::load) {
      const auto values = load(lane);
      write_components(wave, instruction.destination.index, lane, std::span(values).first(shape.components), shape.d16,
                       layout.numeric, shape.high);
      continue;
    }
    const Place place = place_of(wave, instruction, buffer, lane);
    if (!inside(place)) {
      continue;
    }
    const auto values =
        read_components(wave, instruction.data.index, lane, shape.components, shape.d16, layout.numeric, shape.high);
    const auto memory = pack(layout, unselect(values, buffer.select));
    each_piece(buffer, place, scalar, layout.bytes(), [&](uint64_t address, u32 at, u32 size) {
      wave.store(step, address, std::as_bytes(std::span(memory)).subspan(at, size));
    });
  }
  write_status(wave, step, shape.d16 ? (shape.components + 1u) / 2 : shape.components);
}

void nothing(Wave&, const Step&) {}

}  // namespace

Handler buffer_memory_handler(const Instruction& instruction) {
  if (instruction.opcode == Opcode::buffer_gl0_inv || instruction.opcode == Opcode::buffer_gl1_inv) {
    return nothing;
  }
  const auto shape = memory_shape(instruction.opcode);
  if (!shape || instruction.scalar_offset.kind == OperandKind::special) {
    return nullptr;
  }
  if ((instruction.tfe && shape->kind != MemoryShape::Kind::load) || (instruction.lds && shape->d16)) {
    return nullptr;
  }
  // A reserved format in the instruction itself.
  if (instruction.format == Format::mtbuf && buffer_format_name(instruction.data_format).empty()) {
    return nullptr;
  }
  return shape->format ? typed_access : buffer_access;
}

}  // namespace orrery::shader::interpret
