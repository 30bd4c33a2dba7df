// Kept frames read back. (write_png is in presenter.hpp.)
#pragma once

#include <string>

#include "gpu-service/present/presenter.hpp"

namespace orrery::present {

// Alpha is 255 where the file has none. Error: no such file, no PNG, or larger than any frame.
Result<Image> read_png(const std::string& path);

}  // namespace orrery::present
