#include "gpu-service/dispatch/page_passes.hpp"

#include <algorithm>

#include "gpu-service/vulkan/device.hpp"

namespace orrery::dispatch {
namespace {

constexpr uint32_t kUpload[] = {
#include "gpu-service/dispatch/upload_pages.inc"
};
constexpr uint32_t kWriteBack[] = {
#include "gpu-service/dispatch/write_back_pages.inc"
};
constexpr uint32_t kCollect[] = {
#include "gpu-service/dispatch/collect_pages.inc"
};

// Push constants of page_runs.glsl.
struct Push {
  uint64_t runs, report, records;
  uint32_t run_count, page_count, record_room, reserved;
};

// Every device runs so many in one dimension; workgroups go round until all pages are done.
constexpr uint32_t kMostGroups = 65535;

}  // namespace

Result<PagePasses> PagePasses::create(const vulkan::Device& device) {
  PagePasses passes;
  const std::array<vulkan::PipelineRequest, static_cast<size_t>(PagePass::count)> requests{
      {{kUpload, 0, 0, "upload pages"}, {kWriteBack, 0, 0, "write back pages"}, {kCollect, 0, 0, "collect pages"}}};
  for (size_t i = 0; i < requests.size(); ++i) {
    auto pipeline = vulkan::ComputePipeline::create(device, requests[i]);
    if (!pipeline) return std::unexpected(std::move(pipeline.error()));
    passes.pipelines_[i] = std::move(*pipeline);
  }
  return passes;
}

void PagePasses::record(VkCommandBuffer commands, PagePass pass, const PassInput& input) const {
  const auto& pipeline = pipelines_[static_cast<size_t>(pass)];
  const Push push{input.runs.value,
                  input.report.value,
                  input.records.value,
                  input.run_count,
                  input.page_count,
                  input.record_room,
                  0};
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
  vkCmdPushConstants(commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
  vkCmdDispatch(commands, std::min(input.page_count, kMostGroups), 1, 1);
}

}  // namespace orrery::dispatch
