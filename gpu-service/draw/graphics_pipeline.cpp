#include "gpu-service/draw/graphics_pipeline.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gpu-service/vulkan/compute_pipeline.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/pipeline_cache.hpp"

namespace orrery::draw {
namespace {

constexpr uint32_t kHostVertex[] = {
#include "gpu-service/draw/host_vertex.inc"
};

constexpr uint32_t kCullFront = 1, kCullBack = 2, kFaceClockwise = 4;

VkPrimitiveTopology topology_of(OutputPrimitive output) {
  switch (output) {
    case OutputPrimitive::points:
      return VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    case OutputPrimitive::lines:
      return VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
    default:
      return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  }
}

Result<VkShaderModule> module_of(const vulkan::Device& device, std::span<const uint32_t> words) {
  VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = words.size_bytes();
  info.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  const VkResult result = vkCreateShaderModule(device.handle(), &info, nullptr, &module);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateShaderModule");
  return module;
}

VkPipelineRasterizationStateCreateInfo raster_of(const DrawState& state) {
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.polygonMode = VK_POLYGON_MODE_FILL;
  if ((state.raster & kCullFront) != 0) raster.cullMode |= VK_CULL_MODE_FRONT_BIT;
  if ((state.raster & kCullBack) != 0) raster.cullMode |= VK_CULL_MODE_BACK_BIT;
  raster.frontFace = (state.raster & kFaceClockwise) != 0 ? VK_FRONT_FACE_CLOCKWISE : VK_FRONT_FACE_COUNTER_CLOCKWISE;
  raster.lineWidth = 1;
  return raster;
}

}  // namespace

std::array<uint32_t, 3> pipeline_key(const DrawState& state) {
  return {static_cast<uint32_t>(state.output), state.raster & (kCullFront | kCullBack | kFaceClockwise),
          state.target.write_mask};
}

VkViewport host_viewport(const DrawState& state) {
  const Viewport& v = state.viewport;
  // The host's window = offset + scale * position, told by the corner and the whole extent. With depths from -w the
  // vertex shader has halved them: twice the scale, from the near end.
  const bool halves = (state.clip >> 19 & 1) == 0;
  const float near = halves ? v.offset[2] - v.scale[2] : v.offset[2];
  const float far = v.offset[2] + v.scale[2];
  return {v.offset[0] - v.scale[0], v.offset[1] - v.scale[1],     2 * v.scale[0],
          2 * v.scale[1],           std::clamp(near, 0.0f, 1.0f), std::clamp(far, 0.0f, 1.0f)};
}

VkRect2D host_scissor(const DrawState& state) {
  const auto inside = [](int32_t at, uint32_t most) { return std::clamp(at, 0, static_cast<int32_t>(most)); };
  const int32_t left = inside(state.scissor.left, state.target.width),
                top = inside(state.scissor.top, state.target.height);
  const int32_t right = inside(state.scissor.right, state.target.width);
  const int32_t bottom = inside(state.scissor.bottom, state.target.height);
  return {{left, top},
          {static_cast<uint32_t>(std::max(0, right - left)), static_cast<uint32_t>(std::max(0, bottom - top))}};
}

Result<GraphicsPipeline> GraphicsPipeline::create(const vulkan::Device& device, const DrawState& state,
                                                  std::span<const uint32_t> pixel, VkRenderPass pass) {
  GraphicsPipeline out;
  out.device_ = device.handle();
  const VkPushConstantRange push{VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                                 vulkan::kPushConstantBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  VkResult result = vkCreatePipelineLayout(out.device_, &layout, nullptr, &out.layout_);
  if (result != VK_SUCCESS) return device.error(result, "vkCreatePipelineLayout");
  auto vertex_module = module_of(device, kHostVertex);
  if (!vertex_module) return std::unexpected(std::move(vertex_module.error()));
  auto pixel_module = module_of(device, pixel);
  if (!pixel_module) {
    vkDestroyShaderModule(out.device_, *vertex_module, nullptr);
    return std::unexpected(std::move(pixel_module.error()));
  }
  std::array<VkPipelineShaderStageCreateInfo, 2> stages{};
  for (auto& stage : stages) {
    stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stage.pName = "main";
  }
  stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
  stages[0].module = *vertex_module;
  stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
  stages[1].module = *pixel_module;
  const VkPipelineVertexInputStateCreateInfo inputs{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = topology_of(state.output);
  VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1;
  const VkPipelineRasterizationStateCreateInfo raster = raster_of(state);
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkPipelineColorBlendAttachmentState attachment{};
  attachment.colorWriteMask = state.target.write_mask;
  VkPipelineColorBlendStateCreateInfo blend{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  blend.attachmentCount = 1;
  blend.pAttachments = &attachment;
  constexpr std::array kSetLater{VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = kSetLater.size();
  dynamic.pDynamicStates = kSetLater.data();
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.stageCount = stages.size();
  info.pStages = stages.data();
  info.pVertexInputState = &inputs;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewport;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &samples;
  info.pColorBlendState = &blend;
  info.pDynamicState = &dynamic;
  info.layout = out.layout_;
  info.renderPass = pass;
  result = vkCreateGraphicsPipelines(out.device_, device.pipeline_cache().handle(), 1, &info, nullptr, &out.pipeline_);
  vkDestroyShaderModule(out.device_, *vertex_module, nullptr);
  vkDestroyShaderModule(out.device_, *pixel_module, nullptr);
  if (result != VK_SUCCESS) return device.error(result, "vkCreateGraphicsPipelines");
  device.pipeline_cache().mark_changed();
  return out;
}

GraphicsPipeline& GraphicsPipeline::operator=(GraphicsPipeline&& other) noexcept {
  if (this == &other) return *this;
  reset();
  device_ = std::exchange(other.device_, VK_NULL_HANDLE);
  pipeline_ = std::exchange(other.pipeline_, VK_NULL_HANDLE);
  layout_ = std::exchange(other.layout_, VK_NULL_HANDLE);
  return *this;
}

void GraphicsPipeline::reset() {
  if (device_ == VK_NULL_HANDLE) return;
  vkDestroyPipeline(device_, pipeline_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  device_ = VK_NULL_HANDLE;
}

}  // namespace orrery::draw
