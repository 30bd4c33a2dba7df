#include "gpu-service/present/presenter.hpp"
#include "shared/swizzle.hpp"

namespace orrery::present {

uint64_t tiled_index(uint32_t x, uint32_t y, uint32_t width) { return swizzle::tiled_index(x, y, width); }

}  // namespace orrery::present
