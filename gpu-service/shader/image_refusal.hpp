// Why an image access is not done: found where the program runs, as its descriptors are known only there.
#pragma once

#include <cstdint>

namespace orrery::shader {

// Where several apply, the lowest is reported.
enum class ImageRefusal : uint32_t {
  none,
  type,             // T#: a buffer, multisampled, or reserved
  tiling,           // T#: SW_MODE other than linear, and 64KB_R_X other than 2D, 32 bits, one level, layer 0
  compressed,       // T#: COMPRESSION_EN
  format,           // T#: FORMAT of no plain element (block-compressed, packed below a byte, sRGB, depth-stencil)
  pitch,            // T#: a pitch of its own, other than the width rounded up to 256 bytes
  slices,           // T#: a 3D image whose view does not begin at slice 0
  element_size,     // atomic: the element is not as wide as the operation
  resource_lod,     // T#: MIN_LOD
  corner_samples,   // T#: CORNER_SAMPLES
  derivatives,      // the level or filter would follow from derivatives, which a compute wave has none of
  level_zero_bias,  // _lz with a LOD_BIAS in the S#
  border_colour,    // S#: from the table of border colours
  filter_mode,      // S#: minimum or maximum of the texels
  anisotropic,      // S#: anisotropic filter with gradients
  mip_filter,       // S#: POINT_ANISO_ADJ
  degamma,          // S#: FORCE_DEGAMMA
  unnormalised,     // unnormalised coordinates that wrap, or with several levels
  cube_edges,       // linear filter across the edges of a cube
  integer_filter,   // linear filter of integers
  count,
};

// For a report: "tiling mode" and the like.
const char* describe(ImageRefusal reason);

}  // namespace orrery::shader
