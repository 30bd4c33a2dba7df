// Programs that reach images through descriptors in a table, another one each round: compiled once, run with many.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/shader/decode/image_form.hpp"
#include "tests/gpu-service/shader/memory/memory_program.hpp"

namespace orrery::shader::image_test {

using memory_test::MemoryProgram;

struct ImageShape {
  uint32_t type = 9;  // 8 1D, 9 2D, 10 3D, 11 cube, 12 1D array, 13 2D array
  uint32_t format = 56;
  uint32_t width = 7, height = 5;
  uint32_t last = 0;  // 3D: slices - 1; arrays and cubes: last layer
  uint32_t first_layer = 0, base_level = 0, last_level = 0, max_mip = 0;
  uint32_t select = 0xfac, tiling = 0;
  uint32_t offset = 0;  // bytes from kMemory
};
using TSharp = std::array<uint32_t, 8>;
TSharp t_sharp(const ImageShape& shape);

struct SamplerShape {
  std::array<uint32_t, 3> clamp{};
  uint32_t compare = 0, border = 0;
  uint32_t magnify = 0, minify = 0, z_filter = 0, mip_filter = 0;
  bool unnormalised = false, truncates = false, no_cube_wrap = false;
  uint32_t min_lod = 0, max_lod = 0xfff;
  int32_t lod_bias = 0;
};
using SSharp = std::array<uint32_t, 4>;
SSharp s_sharp(const SamplerShape& shape);

struct Round {
  TSharp image{};
  SSharp sampler{};
};

// Each round loads its T# into s[20:27] and its S# into s[28:31], the lanes' 16 dwords of input into v[8:23], does
// `body` and stores v[40:47], which hold 0x5a5a5a5a before it.
struct RoundsProgram {
  std::string body;
  std::vector<Round> rounds;
  // Fills a lane's input; default: zeros.
  std::function<void(size_t round, uint32_t lane, std::span<uint32_t, 16> input)> input;
  std::vector<uint32_t> texels;  // from kMemory on, at most kTexelBytes
};
inline constexpr uint32_t kTexelBytes = 256 * 1024;
MemoryProgram rounds_program(const RoundsProgram& rounds);

// The address registers of one image instruction: values by what they are for.
struct AddressValues {
  std::array<uint32_t, 3> coordinates{};  // register contents of a full-width address: float bits or integers
  uint32_t offset = 0, bias = 0, compare = 0, level = 0, clamp = 0;
  std::array<uint32_t, 6> gradients{};  // three by each direction
};
// Puts them where `instruction` (assembly, addresses in v8..v23) reads them. Halves are made of floats for samples, of
// integers for the rest.
class AddressWriter {
 public:
  explicit AddressWriter(const std::string& instruction, const std::string& processor = "gfx1013");
  void write(const AddressValues& values, std::span<uint32_t, 16> input) const;
  const Instruction& instruction() const { return instruction_; }
  const ImageForm& form() const { return form_; }

 private:
  Instruction instruction_;
  ImageForm form_;
};

}  // namespace orrery::shader::image_test
