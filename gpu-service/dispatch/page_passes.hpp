// Compute passes over runs of host pages: arena to mirror, mirror to arena, mirror to records for the host.
#pragma once

#include <vulkan/vulkan_core.h>
#include <array>
#include <cstddef>
#include <span>

#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "shared/error.hpp"
#include "shared/quantity.hpp"

namespace orrery::dispatch {

// As page_runs.glsl has it.
struct PassRun {
  // Device addresses of the first page; for the collecting pass `arena` is its offset in the arena.
  uint64_t arena = 0, mirror = 0, twin = 0;
  uint32_t first = 0;  // number of the first page among all of the pass
  uint32_t fresh = 0;  // mirror and twin hold nothing yet
};
static_assert(sizeof(PassRun) == 32);
struct PassReport {
  uint32_t pages = 0;                      // that were collected, or had no room
  uint32_t bytes = 0;                      // that went back
  uint32_t conflicts = 0;                  // bytes that the CPU changed too
  uint32_t first_low = 0, first_high = 0;  // device address of the first such byte in the arena
};
// A changed page as collect_pages.comp writes it.
struct PageRecord {
  uint64_t offset, reserved;  // into the arena
  std::array<std::byte, 4096> mirror, twin;
};
static_assert(sizeof(PageRecord) == 16 + 2 * 4096);

enum class PagePass : uint8_t { upload, write_back, collect, count };

struct PassInput {
  DeviceAddress runs, report, records;
  uint32_t run_count = 0, page_count = 0, record_room = 0;
};

class PagePasses {
 public:
  static Result<PagePasses> create(const vulkan::Device& device);
  // Records the pass; barriers are the caller's.
  void record(VkCommandBuffer commands, PagePass pass, const PassInput& input) const;

 private:
  std::array<vulkan::ComputePipeline, static_cast<size_t>(PagePass::count)> pipelines_;
};

}  // namespace orrery::dispatch
