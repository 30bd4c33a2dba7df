// A region of measurements that processes can share, attached to while the fixture lives.
#pragma once

#include <gtest/gtest.h>

#include "shared/measure/span.hpp"
#include "shared/unique_fd.hpp"

namespace orrery::measure {

class MeasuredRegion : public testing::Test {
 protected:
  MeasuredRegion() {
    auto file = make_memory_file("measured", Bytes{sizeof(Region)});
    auto mapped = file ? Mapping::of(*file, Bytes{0}, Bytes{sizeof(Region)}) : std::unexpected(file.error());
    if (!mapped) {
      ADD_FAILURE() << mapped.error().describe();
      return;
    }
    mapping_ = std::move(*mapped);
    format(region());
    attach(region(), Process::guest);
  }
  ~MeasuredRegion() override { detach(); }
  Region& region() { return *reinterpret_cast<Region*>(mapping_.data()); }

 private:
  Mapping mapping_;
};

}  // namespace orrery::measure
