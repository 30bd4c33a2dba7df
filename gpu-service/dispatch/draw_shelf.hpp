// What draws keep from one to the next: translated shaders, pipelines, images of targets, memory in use.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "gpu-service/dispatch/program_cache.hpp"
#include "gpu-service/draw/colour_image.hpp"
#include "gpu-service/draw/draw_state.hpp"
#include "gpu-service/draw/graphics_pipeline.hpp"
#include "gpu-service/draw/groups.hpp"

namespace orrery::dispatch {

// A shader of a draw as a module; the primitive shader as a pipeline, the pixel shader as words.
struct DrawShader {
  ContentHash content;                          // of the program
  std::vector<shader::ShaderRefusal> refusals;  // when it is not translated
  std::string refusal;                          // or the driver's
  shader::Module module;
  vulkan::ComputePipeline pipeline;
};

struct DrawShelf {
  static Result<std::unique_ptr<DrawShelf>> create(const vulkan::Device& device);

  using Key = std::vector<uint64_t>;
  size_t kept() const { return std::max({shaders.size(), pipelines.size(), images.size()}); }

  std::map<Key, std::shared_ptr<const DrawShader>> shaders;
  std::map<Key, draw::GraphicsPipeline> pipelines;
  std::map<Key, draw::ColourImage> images;  // by size and format
  vulkan::ComputePipeline surface_copy;
  std::vector<vulkan::Buffer> in_use;  // by work that is not waited for
};

}  // namespace orrery::dispatch
