#include "gpu-service/shader/image_refusal.hpp"

namespace orrery::shader {

const char* describe(ImageRefusal reason) {
  switch (reason) {
    case ImageRefusal::none:
    case ImageRefusal::count:
      break;
    case ImageRefusal::type:
      return "image type";
    case ImageRefusal::tiling:
      return "tiling mode";
    case ImageRefusal::compressed:
      return "compressed image";
    case ImageRefusal::format:
      return "image format";
    case ImageRefusal::pitch:
      return "pitch of its own";
    case ImageRefusal::slices:
      return "view of a 3D image that does not begin at slice 0";
    case ImageRefusal::element_size:
      return "atomic on elements of another size";
    case ImageRefusal::resource_lod:
      return "least level of the resource";
    case ImageRefusal::corner_samples:
      return "corner samples";
    case ImageRefusal::derivatives:
      return "level of detail from derivatives";
    case ImageRefusal::level_zero_bias:
      return "level bias at level 0";
    case ImageRefusal::border_colour:
      return "border colour from a table";
    case ImageRefusal::filter_mode:
      return "minimum or maximum filter";
    case ImageRefusal::anisotropic:
      return "anisotropic filter";
    case ImageRefusal::mip_filter:
      return "mip filter";
    case ImageRefusal::degamma:
      return "forced degamma";
    case ImageRefusal::unnormalised:
      return "unnormalised coordinates that wrap or have levels";
    case ImageRefusal::cube_edges:
      return "linear filter across cube edges";
    case ImageRefusal::integer_filter:
      return "linear filter of integers";
  }
  return "none";
}

}  // namespace orrery::shader
