// The host's pipeline of a draw: our own vertex shader, the translated pixel shader, and the fixed state.
#pragma once

#include <vulkan/vulkan_core.h>
#include <span>

#include "gpu-service/draw/draw_state.hpp"
#include "shared/error.hpp"

namespace orrery::vulkan {
class Device;
}

namespace orrery::draw {

class GraphicsPipeline {
 public:
  // `pixel` is a Fragment module (shader/translate.hpp). Viewport and scissor are set when it is recorded.
  static Result<GraphicsPipeline> create(const vulkan::Device& device, const DrawState& state,
                                         std::span<const uint32_t> pixel, VkRenderPass pass);
  GraphicsPipeline(GraphicsPipeline&& other) noexcept { *this = std::move(other); }
  GraphicsPipeline& operator=(GraphicsPipeline&& other) noexcept;
  GraphicsPipeline(const GraphicsPipeline&) = delete;
  GraphicsPipeline& operator=(const GraphicsPipeline&) = delete;
  ~GraphicsPipeline() { reset(); }

  VkPipeline handle() const { return pipeline_; }
  VkPipelineLayout layout() const { return layout_; }

 private:
  GraphicsPipeline() = default;
  void reset();
  VkDevice device_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
};

// What of the state the pipeline depends on, as words.
std::array<uint32_t, 3> pipeline_key(const DrawState& state);
VkViewport host_viewport(const DrawState& state);
// The scissor within the target; an empty one draws nothing.
VkRect2D host_scissor(const DrawState& state);

}  // namespace orrery::draw
