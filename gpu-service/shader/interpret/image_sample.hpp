// What a sample or gather instruction does with one lane's address: level, footprint, filter.
#pragma once

#include <functional>

#include "gpu-service/shader/decode/image_form.hpp"
#include "gpu-service/shader/interpret/image_descriptor.hpp"

namespace orrery::shader::interpret {

struct SampleAddress {
  std::array<float, 3> coordinates{};
  std::array<int32_t, 3> offset{};
  float compare = 0;
  float level = 0;
  float clamp = 0;                   // _cl
  std::array<float, 6> gradients{};  // of each dimension by the first direction, then by the second
};

struct Sampling {
  const ImageDescriptor& image;
  const SamplerDescriptor& sampler;
  const ImageForm& form;
  bool unnormalised = false;  // by the instruction or the sampler
  uint8_t dmask = 1;
  // The element's dwords at an address.
  std::function<std::array<uint32_t, 4>(uint64_t)> load;
};

ImageRefusal refusal(const Sampling& s);
// Four results before DMASK; gather: the four texels' component that DMASK names.
std::array<uint32_t, 4> sample(const Sampling& s, const SampleAddress& address);

// 256 log2(sqrt(squared)), to the nearest integer; -32 * 256 at 0.
int32_t level_of_length_squared(float squared);

}  // namespace orrery::shader::interpret
