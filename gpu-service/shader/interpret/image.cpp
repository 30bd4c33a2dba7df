// MIMG in compute: loads and stores of linear images. Sampling, atomics and tiled images are refused by name.
#include <fmt/format.h>

#include "gpu-service/shader/interpret/typed_registers.hpp"

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;

// T#: AMD's public gfx10 headers (SQ_IMG_RSRC_WORD0..7).
struct ImageDescriptor {
  uint64_t base;
  u32 format, width, height, depth, select, base_level, tiling, type, base_layer;

  static ImageDescriptor read(std::span<const u32> words) {
    return {.base = uint64_t{words[0]} << 8 | uint64_t{words[1] & 0xff} << 40,
            .format = words[1] >> 20 & 0x1ff,
            .width = ((words[1] >> 30) | (words[2] & 0xfff) << 2) + 1,
            .height = (words[2] >> 14 & 0x3fff) + 1,
            .depth = (words[4] & 0x1fff) + 1,
            .select = words[3] & 0xfff,
            .base_level = words[3] >> 12 & 15,
            .tiling = words[3] >> 20 & 31,
            .type = words[3] >> 28,
            .base_layer = words[4] >> 16 & 0x1fff};
  }
};
enum : u32 { kType1D = 8, kType2D = 9, kType3D = 10, kType1DArray = 12, kType2DArray = 13 };

// Coordinate `index` of the instruction's address, an integer.
u32 coordinate(Wave& wave, const Instruction& instruction, unsigned index, u32 lane) {
  const auto reg = [&](unsigned number) -> u32 {
    return instruction.nsa_count != 0 ? instruction.nsa[number] : instruction.address.index + number;
  };
  if (instruction.a16) {
    return wave.row(reg(index / 2))[lane] >> (16 * (index % 2)) & 0xffff;
  }
  return wave.row(reg(index))[lane];
}

struct Texel {
  u32 x = 0, y = 0, z = 0;
};
// DIM: 0 1D, 1 2D, 2 3D, 4 1D array, 5 2D array.
Texel texel(Wave& wave, const Instruction& instruction, u32 lane) {
  const auto c = [&](unsigned index) { return coordinate(wave, instruction, index, lane); };
  switch (instruction.dim) {
    case 0:
      return {c(0), 0, 0};
    case 1:
      return {c(0), c(1), 0};
    case 4:
      return {c(0), 0, c(1)};
    default:
      return {c(0), c(1), c(2)};
  }
}

void image_access(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const auto image = ImageDescriptor::read(std::span(wave.sgpr).subspan(instruction.resource.index, 8));
  const auto layout = element_layout(image.format);
  if (!layout || image.tiling != 0 || image.base_level != 0 || (image.type > kType3D && image.type < kType1DArray) ||
      image.type < kType1D || image.type > kType2DArray) {
    wave.refuse(step, fmt::format("image of format {}, tiling {}, type {}, base level {}", image.format, image.tiling,
                                  image.type, image.base_level));
    return;
  }
  const bool flat = image.type == kType1D || image.type == kType1DArray;
  const u32 height = flat ? 1 : image.height,
            layers = image.type == kType3D || image.type >= kType1DArray ? image.depth : 1;
  // Rows of linear images are padded to 256 bytes.
  const uint64_t pitch = (uint64_t{image.width} * layout->bytes() + 255) / 256 * 256;
  const bool stores = !step.has_destination;
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (!active(exec, lane)) {
      continue;
    }
    Texel at = texel(wave, instruction, lane);
    at.z += image.type >= kType1DArray ? image.base_layer : 0;
    const bool inside = at.x < image.width && at.y < height && at.z < layers;
    const uint64_t address = image.base + (uint64_t{at.z} * height + at.y) * pitch + uint64_t{at.x} * layout->bytes();
    std::array<u32, 4> memory{}, values{}, chosen{};
    unsigned count = 0;
    if (stores) {
      const auto given =
          read_components(wave, instruction.data.index, lane, static_cast<unsigned>(std::popcount(instruction.dmask)),
                          instruction.d16, layout->numeric);
      for (unsigned i = 0; i < 4; ++i) {
        values[i] = (instruction.dmask >> i & 1) != 0 ? given[count++] : 0;
      }
      if (inside) {
        memory = pack(*layout, unselect(values, image.select));
        wave.store(step, address, std::as_bytes(std::span(memory)).first(layout->bytes()));
      }
      continue;
    }
    if (inside) {
      wave.load(step, address, std::as_writable_bytes(std::span(memory)).first(layout->bytes()));
      values = select(*layout, unpack(*layout, memory), image.select);
    }
    for (unsigned i = 0; i < 4; ++i) {
      if ((instruction.dmask >> i & 1) != 0) {
        chosen[count++] = values[i];
      }
    }
    write_components(wave, instruction.destination.index, lane, std::span(chosen).first(std::max(count, 1u)),
                     instruction.d16, layout->numeric);
  }
}

}  // namespace

Handler image_handler(const Instruction& instruction) {
  const bool plain = instruction.opcode == Opcode::image_load || instruction.opcode == Opcode::image_store;
  const bool known_dim = instruction.dim <= 2 || instruction.dim == 4 || instruction.dim == 5;
  return plain && known_dim && !instruction.tfe && !instruction.lwe && !instruction.r128 ? image_access : nullptr;
}

}  // namespace orrery::shader::interpret
