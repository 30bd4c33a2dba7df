#include "gpu-service/shader/decode/image_address.hpp"

#include <array>

namespace orrery::shader {
namespace {

// By DIM: 1D, 2D, 3D, cube, 1D array, 2D array, 2D MSAA, 2D MSAA array.
constexpr std::array<uint8_t, 8> kCoordinates{1, 2, 3, 3, 2, 3, 3, 4};
constexpr std::array<uint8_t, 8> kGradients{2, 4, 6, 4, 2, 4, 4, 4};

}  // namespace

uint8_t image_coordinates(uint32_t dim) { return kCoordinates[dim & 7]; }
uint8_t image_gradients(uint32_t dim) { return kGradients[dim & 7]; }

// "_o" offset, "_b" bias, "_c" compare, "_d"/"_cd" gradients, "_l"/"_cl" one more coordinate.
bool image_name_has(std::string_view name, std::string_view part) {
  for (size_t at = name.find('_'); at != name.npos; at = name.find('_', at + 1)) {
    const std::string_view rest = name.substr(at + 1);
    if (rest.starts_with(part) && (rest.size() == part.size() || rest[part.size()] == '_')) {
      return true;
    }
  }
  return false;
}

unsigned image_address_dwords(const Instruction& image) {
  const std::string_view name = mnemonic(image.opcode);
  if (name.starts_with("image_bvh64")) {
    return image.a16 ? 9 : 12;
  }
  if (name.starts_with("image_bvh")) {
    return image.a16 ? 8 : 11;
  }
  unsigned coordinates = kCoordinates[image.dim];
  if (!name.starts_with("image_sample") && !name.starts_with("image_gather4") && !name.starts_with("image_get_lod")) {
    if (name.find("_mip") != name.npos) {
      ++coordinates;
    } else if (name.starts_with("image_get_resinfo")) {
      coordinates = 1;
    }
    return image.a16 ? (coordinates + 1) / 2 : coordinates;
  }
  unsigned dwords = 0;
  dwords += image_name_has(name, "o") ? 1u : 0u;
  dwords += image_name_has(name, "b") ? 1u : 0u;
  dwords += image_name_has(name, "c") ? 1u : 0u;
  if (image_name_has(name, "d") || image_name_has(name, "cd")) {
    const unsigned gradients = kGradients[image.dim];
    dwords += image_name_has(name, "g16") ? 2 * ((gradients / 2 + 1) / 2) : gradients;
  }
  coordinates += image_name_has(name, "l") || image_name_has(name, "cl") ? 1u : 0u;
  return dwords + (image.a16 ? (coordinates + 1) / 2 : coordinates);
}

}  // namespace orrery::shader
