// Specialization constants of a module: what its traced descriptors say of formats, layouts and filters, so that a
// driver compiles only that. Without them the module reads the same from the descriptors where it runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace orrery::shader {

// Of a T#: the word that holds FORMAT and MIN_LOD as a word of its own (not where it lies and how wide it is), and
// words 3, 5 and 6. Of an S#: all four. Of a typed buffer's V#: the stride of word 1, and word 3. Constant 0 (a bool)
// says that the others are given.
class DescriptorConstants {
 public:
  using ImageWords = std::array<uint32_t, 8>;
  using SamplerWords = std::array<uint32_t, 4>;
  using BufferWords = std::array<uint32_t, 2>;  // words 1 and 3; zeros where the buffer is not typed

  DescriptorConstants(size_t images, size_t samplers)
      : images_(static_cast<uint32_t>(images)), samplers_(static_cast<uint32_t>(samplers)) {}
  // The constant of an argument of the library's functions: T# words 0..6 and in place of word 7 word 1 once more.
  std::optional<uint32_t> of_image(uint32_t image, uint32_t argument) const {
    for (uint32_t n = 0; n < 4; ++n)
      if (kArguments[n] == argument) return 1 + 4 * image + n;
    return std::nullopt;
  }
  uint32_t of_sampler(uint32_t sampler, uint32_t word) const { return 1 + 4 * (images_ + sampler) + word; }
  // Word 1 (without its base) or 3.
  uint32_t of_buffer(uint32_t buffer, uint32_t word) const {
    return 1 + 4 * (images_ + samplers_) + 2 * buffer + (word == 3 ? 1 : 0);
  }

  // The constants' values from 0 on.
  static std::vector<uint32_t> values(std::span<const ImageWords> images, std::span<const SamplerWords> samplers,
                                      std::span<const BufferWords> buffers) {
    std::vector<uint32_t> out{1};
    for (const ImageWords& words : images)
      out.insert(out.end(), {words[3], words[5], words[6], words[1] & kFormatBits});
    for (const SamplerWords& words : samplers) out.insert(out.end(), words.begin(), words.end());
    for (const BufferWords& words : buffers) out.insert(out.end(), {words[0] & kStrideBits, words[1]});
    return out;
  }

 private:
  static constexpr std::array<uint32_t, 4> kArguments{3, 5, 6, 7};
  static constexpr uint32_t kFormatBits = 0x1fffff00;  // FORMAT 28:20, MIN_LOD 19:8
  static constexpr uint32_t kStrideBits = 0x3fff0000;
  uint32_t images_, samplers_;
};

}  // namespace orrery::shader
