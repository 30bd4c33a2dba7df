// Why an image access is not done: found where the program runs, as its descriptors are known only there.
#pragma once

#include <cstdint>

namespace orrery::shader {

// Where several apply, the lowest is reported.
enum class ImageRefusal : uint32_t {
  none,
#define ORRERY_IMAGE_REFUSAL(number, name) name = number,
#include "gpu-service/shader/image/refusals.inc"
#undef ORRERY_IMAGE_REFUSAL
  count,
};

// For a report: "tiling mode" and the like.
const char* describe(ImageRefusal reason);

// EscapeReport::image_refusal: the largest note of all invocations is kept, so lower reasons come first; 0 is none.
inline constexpr uint32_t kRefusalShift = 24;
constexpr ImageRefusal refusal_of_note(uint32_t note) {
  return note == 0 ? ImageRefusal::none : static_cast<ImageRefusal>(255 - (note >> kRefusalShift));
}
constexpr uint32_t offset_of_note(uint32_t note) { return note & ((1u << kRefusalShift) - 1); }

}  // namespace orrery::shader
