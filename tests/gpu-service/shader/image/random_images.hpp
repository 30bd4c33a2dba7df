// Random descriptors that the interpreter samples, and addresses with edge cases.
#pragma once

#include <random>

#include "tests/gpu-service/shader/image/image_program.hpp"

namespace orrery::shader::image_test {

class RandomImages {
 public:
  RandomImages(uint32_t seed, const std::string& instruction, const std::string& processor = "gfx1013");
  // A T# and S# that the instruction may have; sizes of the image are kept for input().
  Round round();
  void input(size_t round, std::span<uint32_t, 16> input);
  // Floats and halves of every format are numbers of moderate size.
  static std::vector<uint32_t> texels(uint32_t seed);

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_()) % n; }
  bool one_in(uint32_t n) { return below(n) == 0; }
  float between(float low, float high);
  float coordinate(bool unnormalised, uint32_t size);
  ImageShape image();
  SamplerShape sampler();

  std::mt19937 random_;
  AddressWriter writer_;
  struct Made {
    ImageShape image;
    bool unnormalised;
  };
  std::vector<Made> made_;
};

}  // namespace orrery::shader::image_test
