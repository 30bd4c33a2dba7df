// MUBUF and MTBUF: raw, structured and typed buffers. Out of range: loads give 0, stores and atomics do nothing, dword
// by dword.
#include <fmt/format.h>

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
    for (size_t at = 0; at < size;) {
      const size_t piece = std::min<size_t>(size - at, 4);
      if (buffer.in_range(place.index, place.offset + at, piece, scalar)) {
        use(buffer.base + scalar + buffer.place(place.index, place.offset + at), at, piece);
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

void buffer_access(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const BufferDescriptor buffer = descriptor_of(wave, instruction);
  Place place;
  access(wave, step, BufferSpace{wave, step, buffer, place, scalar_offset(wave, instruction)}, [&](u32 lane) {
    place = place_of(wave, instruction, buffer, lane);
    return uint64_t{0};
  });
}

// With conversion: the format is the descriptor's (MUBUF) or the instruction's (MTBUF). An element is in range whole or
// not at all. A store of fewer components than the format has writes 0 into the rest.
void typed_access(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const BufferDescriptor buffer = descriptor_of(wave, instruction);
  const u32 format = instruction.format == Format::mtbuf ? instruction.data_format : buffer.format;
  const auto layout = element_layout(format);
  if (!layout) {
    wave.refuse(step, fmt::format("buffer format {}", format));
    return;
  }
  const MemoryShape& shape = step.memory;
  const u32 scalar = scalar_offset(wave, instruction);
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (!active(exec, lane)) {
      continue;
    }
    const Place place = place_of(wave, instruction, buffer, lane);
    const bool inside = buffer.in_range(place.index, place.offset, layout->bytes(), scalar);
    const uint64_t address = buffer.base + scalar + buffer.place(place.index, place.offset);
    std::array<u32, 4> memory{};
    if (shape.kind == MemoryShape::Kind::load) {
      std::array<u32, 4> values{};
      if (inside) {
        wave.load(step, address, std::as_writable_bytes(std::span(memory)).first(layout->bytes()));
        values = select(*layout, unpack(*layout, memory), buffer.select);
      }
      write_components(wave, instruction.destination.index, lane, std::span(values).first(shape.components), shape.d16,
                       layout->numeric);
    } else if (inside) {
      const auto values =
          read_components(wave, instruction.data.index, lane, shape.components, shape.d16, layout->numeric);
      memory = pack(*layout, unselect(values, buffer.select));
      wave.store(step, address, std::as_bytes(std::span(memory)).first(layout->bytes()));
    }
  }
}

void nothing(Wave&, const Step&) {}

}  // namespace

Handler buffer_memory_handler(const Instruction& instruction) {
  if (instruction.opcode == Opcode::buffer_gl0_inv || instruction.opcode == Opcode::buffer_gl1_inv) {
    return nothing;
  }
  const auto shape = memory_shape(instruction.opcode);
  if (!shape || instruction.lds || instruction.tfe || instruction.scalar_offset.kind == OperandKind::special) {
    return nullptr;
  }
  return shape->format ? typed_access : buffer_access;
}

}  // namespace orrery::shader::interpret
