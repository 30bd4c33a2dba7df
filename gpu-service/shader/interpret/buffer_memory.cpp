// MUBUF: raw and structured buffers. Out of range: loads give 0, stores and atomics do nothing, dword by dword.
#include "gpu-service/shader/interpret/buffer_descriptor.hpp"
#include "gpu-service/shader/interpret/memory_access.hpp"

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

void buffer_access(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const auto buffer = BufferDescriptor::read(std::span(wave.sgpr).subspan(instruction.resource.index, 4));
  const u32 scalar = instruction.scalar_offset.kind == OperandKind::sgpr ? wave.sgpr[instruction.scalar_offset.index]
                     : instruction.scalar_offset.inline_float            ? instruction.scalar_offset.value
                                                                         : instruction.scalar_offset.value;
  Place place;
  access(wave, step, BufferSpace{wave, step, buffer, place, scalar}, [&](u32 lane) {
    place = place_of(wave, instruction, buffer, lane);
    return uint64_t{0};
  });
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
  return shape->format ? nullptr : buffer_access;
}

}  // namespace orrery::shader::interpret
