// A draw, step by step behind full barriers: its target goes from guest memory to an image, the primitive shader runs
// over its groups, the host rasterizes what was exported, the image goes back (docs/decisions/064).
#include <fmt/format.h>
#include <algorithm>

#include "gpu-service/dispatch/draw_shelf.hpp"
#include "gpu-service/dispatch/executor_state.hpp"
#include "gpu-service/dispatch/lane_choice.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "shared/swizzle.hpp"

namespace orrery::dispatch {
namespace {

using draw::DrawState;

constexpr uint32_t kSurfaceCopy[] = {
#include "gpu-service/draw/surface_copy.inc"
};
constexpr size_t kMostKept = 512;  // of each kind; then all are made anew, while the device is idle
constexpr uint64_t kMostIndices = 1 << 22;

// Push constants of surface_copy.comp.
struct CopyPush {
  uint64_t surface, rows;
  uint32_t width, height, pitch, back;
};

// The host's vertex shader finds its constants where a pixel shader has none (draw/host_vertex.vert).
shader::PushConstants vertex_constants(const DrawState& state, const draw::Groups& groups) {
  shader::PushConstants push{};
  const auto point = std::bit_cast<uint32_t>(state.point_width);
  const uint64_t from_minus_one = (state.clip >> 19 & 1) == 0 ? 1 : 0;
  push.scratch = point | from_minus_one << 32;
  push.first_group = {groups.threads, shader::draw_memory::vertices_at(groups.threads),
                      shader::draw_memory::vertex_bytes(state.parameters)};
  push.threads = {draw::corners_of(state.output), 0, groups.bytes};
  return push;
}

void take_stage(shader::PushConstants& push, const draw::Stage& stage) {
  std::copy_n(stage.user_data.begin(), push.user_data.size(), push.user_data.begin());
  push.code_low = static_cast<uint32_t>(stage.program.value);
  push.code_high = static_cast<uint32_t>(stage.program.value >> 32);
}

std::vector<uint64_t> key_of(const ReadProgram& program, const shader::TranslateOptions& o) {
  std::vector<uint64_t> key{program.content.low, program.content.high, o.rsrc1, o.rsrc2,
                            o.layout.wave,       o.group_size[0]};
  key.push_back(static_cast<uint64_t>(o.stage.kind) | uint64_t{o.stage.parameters} << 8 |
                uint64_t{o.stage.inputs} << 32);
  for (const uint32_t control : o.stage.input_control) key.push_back(control);
  return key;
}

uint64_t surface_bytes(const draw::ColourTarget& target) {
  if (target.swizzle == draw::SwizzleMode::linear) return uint64_t{swizzle::linear_pitch(target.width)} * target.height;
  return swizzle::tiled_dwords(target.width, target.height) * 4;
}

Refusal not_drawn(std::string reason) { return {"draw", "a draw is left out: " + std::move(reason)}; }

}  // namespace

Result<std::unique_ptr<DrawShelf>> DrawShelf::create(const vulkan::Device& device) {
  auto copy = vulkan::ComputePipeline::create(device, {kSurfaceCopy, 0, 0, "surface copy"});
  if (!copy) return std::unexpected(std::move(copy.error()));
  auto shelf = std::make_unique<DrawShelf>();
  shelf->surface_copy = std::move(*copy);
  return shelf;
}

// The stage as a module, made once for each content and state.
std::shared_ptr<const DrawShader> DispatchExecutor::State::draw_shader(const draw::Stage& stage,
                                                                       shader::GraphicsStage as, uint32_t threads) {
  const auto program = settled_program(stage.program, Wait::yes);
  auto made = std::make_shared<DrawShader>();
  if (program == nullptr) {
    made->refusal = fmt::format("program address {:#x} is not mapped", stage.program.value);
    return made;
  }
  if (!program->program) {
    made->refusals.push_back(program->program.error());
    return made;
  }
  running.insert(program);
  made->content = program->content;
  shader::TranslateOptions o;
  o.host = host_features(device.facts());
  o.rsrc1 = stage.rsrc1;
  o.rsrc2 = stage.user_sgprs << 1 | stage.lds_bytes / 512 << 15;
  o.bind_buffers = false;
  o.stage = as;
  o.layout = {stage.wave, 32, 1, shader::LaneExchange::subgroup};
  if (as.kind == shader::StageKind::primitive) o.group_size = {threads, 1, 1};
  const DrawShelf::Key key = key_of(*program, o);
  if (const auto known = draws->shaders.find(key); known != draws->shaders.end()) return known->second;
  if (as.kind == shader::StageKind::primitive) {
    const auto needs = [&] {
      const auto found = shader::analyse(**program->program, o);
      return found ? found->needs : shader::ProgramNeeds{};
    };
    LaunchGeometry geometry;
    geometry.wave = stage.wave;
    geometry.group_size = o.group_size;
    geometry.workgroup_bytes = stage.lds_bytes;
    const auto choice = choose_layout(geometry, device.facts(), needs, layout_wish);
    if (!choice) made->refusal = choice.error();
    if (choice) o.layout = choice->layout;
  }
  auto module = shader::translate(**program->program, o);
  if (!module) {
    made->refusals = std::move(module.error());
  } else {
    made->module = std::move(*module);
  }
  if (made->refusal.empty() && made->refusals.empty() && made->module.group_memory != 0) {
    made->refusal = "its LDS does not fit into the device's workgroup memory";
  }
  if (made->refusal.empty() && made->refusals.empty() && as.kind == shader::StageKind::primitive) {
    auto pipeline = vulkan::ComputePipeline::create(
        device, {made->module.spirv, 0, made->module.layout.required_subgroup(), "primitive shader"});
    if (!pipeline) {
      made->refusal = pipeline.error().describe();
    } else {
      made->pipeline = std::move(*pipeline);
    }
  }
  draws->shaders.emplace(key, made);
  return made;
}

std::vector<Refusal> DispatchExecutor::State::shader_refusals(const DrawShader& shader, const draw::Stage& stage) {
  std::vector<Refusal> out;
  if (!shader.refusal.empty()) {
    out.push_back(not_drawn(fmt::format("program {:#x}: {}", stage.program.value, shader.refusal)));
  }
  for (const auto& refusal : shader.refusals) {
    out.push_back({"program", fmt::format("program {:#x} offset {:#x}: {}: {}", stage.program.value, refusal.offset,
                                          refusal.mnemonic, refusal.reason)});
  }
  return out;
}

// Vertex ids in the order of the draw; the reason where indices can't be read.
std::expected<std::vector<uint32_t>, std::string> DispatchExecutor::State::vertex_ids(const DrawState& state) {
  if (state.vertices > kMostIndices) return std::unexpected(fmt::format("{} vertices", state.vertices));
  std::vector<uint32_t> ids(state.vertices);
  for (uint32_t i = 0; i < state.vertices; ++i) ids[i] = state.first_vertex + i;
  if (!state.indexed) return ids;
  std::vector<std::byte> bytes(size_t{state.vertices} * state.index_bytes);
  if (!settled_read(state.indices, bytes)) {
    return std::unexpected(
        fmt::format("{} bytes of indices at {:#x} are not mapped", bytes.size(), state.indices.value));
  }
  for (uint32_t i = 0; i < state.vertices; ++i) {
    ids[i] = 0;
    std::memcpy(&ids[i], bytes.data() + size_t{i} * state.index_bytes, state.index_bytes);
  }
  return ids;
}

Result<void> DispatchExecutor::State::copy_surface(const DrawState& state, const draw::ColourImage& image,
                                                   DeviceAddress surface, bool back) {
  auto commands = batches.step();
  if (!commands) return std::unexpected(std::move(commands.error()));
  const bool linear = state.target.swizzle == draw::SwizzleMode::linear;
  const CopyPush push{surface.value,
                      image.rows().address().value,
                      state.target.width,
                      state.target.height,
                      linear ? swizzle::linear_pitch(state.target.width) / 4 : 0,
                      back ? 1u : 0u};
  const auto& pipeline = draws->surface_copy;
  vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
  vkCmdPushConstants(*commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
  vkCmdDispatch(*commands, (state.target.width + 7) / 8, (state.target.height + 7) / 8, 1);
  return {};
}

Result<void> DispatchExecutor::State::record_draw(const DrawState& state, const DrawParts& parts) {
  const DispatchNote geometry{state.primitive_shader.program, state.queue, state.packet_offset, state.sequence};
  const DispatchNote pixels{state.pixel_shader.program, state.queue, state.packet_offset, state.sequence};
  ORRERY_TRY(want_everything());
  ORRERY_TRY(copy_surface(state, parts.image, parts.surface, false));
  auto commands = batches.step();
  if (!commands) return std::unexpected(std::move(commands.error()));
  parts.image.rows_to_image(*commands);

  auto room = batches.dispatch_step(VK_NULL_HANDLE, 0, geometry);
  if (!room) return std::unexpected(std::move(room.error()));
  shader::PushConstants push{};
  take_stage(push, state.primitive_shader);
  push.page_table = pages.level1().value;
  push.escapes = room->escapes.value;
  push.bound_info = parts.memory.value;
  vkCmdBindPipeline(room->commands, VK_PIPELINE_BIND_POINT_COMPUTE, parts.primitive.pipeline.handle());
  vkCmdPushConstants(room->commands, parts.primitive.pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                     &push);
  vkCmdDispatch(room->commands, parts.groups.count, 1, 1);

  room = batches.dispatch_step(VK_NULL_HANDLE, 0, pixels);
  if (!room) return std::unexpected(std::move(room.error()));
  push = vertex_constants(state, parts.groups);
  take_stage(push, state.pixel_shader);
  push.page_table = pages.level1().value;
  push.escapes = room->escapes.value;
  push.bound_info = parts.memory.value;
  const VkViewport viewport = draw::host_viewport(state);
  const VkRect2D scissor = draw::host_scissor(state);
  parts.image.begin_pass(room->commands);
  vkCmdBindPipeline(room->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, parts.pipeline.handle());
  vkCmdSetViewport(room->commands, 0, 1, &viewport);
  vkCmdSetScissor(room->commands, 0, 1, &scissor);
  vkCmdPushConstants(room->commands, parts.pipeline.layout(), VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
                     0, sizeof push, &push);
  vkCmdDraw(room->commands, parts.groups.count * parts.groups.threads * draw::corners_of(state.output), 1, 0, 0);
  vkCmdEndRenderPass(room->commands);

  commands = batches.step();
  if (!commands) return std::unexpected(std::move(commands.error()));
  parts.image.image_to_rows(*commands);
  return copy_surface(state, parts.image, parts.surface, true);
}

std::vector<Refusal> DispatchExecutor::State::draw(const DrawState& state) {
  if (lost) return {lost_refusal()};
  std::vector<Refusal> refusals;
  for (std::string& reason : draw::not_drawn(state)) refusals.push_back(not_drawn(std::move(reason)));
  if (!refusals.empty()) return refusals;
  if (device.facts().max_subgroup_size > 32) return {not_drawn("subgroups of more than 32 in pixel shaders")};
  if (draws && batches.idle() && draws->kept() > kMostKept) draws.reset();
  if (!draws) {
    auto shelf = DrawShelf::create(device);
    if (!shelf) return {lose(std::move(shelf.error()))};
    draws = std::move(*shelf);
  }
  const uint32_t corners = draw::corners_of(state.primitive);
  if (corners == 0) return {not_drawn(fmt::format("VGT_PRIMITIVE_TYPE {}", static_cast<uint32_t>(state.primitive)))};
  const auto ids = vertex_ids(state);
  if (!ids) return {not_drawn(ids.error())};
  const auto primitives = draw::primitives_of(state.primitive, *ids, false, 0);
  const VkRect2D scissor = draw::host_scissor(state);
  if (primitives.empty() || scissor.extent.width == 0 || scissor.extent.height == 0) return {};
  const auto groups = draw::groups_of(state, primitives.size());
  if (!groups) return {not_drawn(groups.error())};

  const uint64_t bytes = surface_bytes(state.target);
  auto admitted = admit({.reads_anything = true, .writes_anything = true});
  if (!admitted) return {lose(std::move(admitted.error()))};
  const auto pieces = memory.pieces(state.target.base, {bytes});
  if (!pieces || pieces->size() != 1) {
    return {not_drawn(fmt::format("the colour target's {} bytes at {:#x} are not mapped in one piece", bytes,
                                  state.target.base.value))};
  }
  const auto slice = arena.find(pieces->front().offset);
  if (!slice || slice->available < bytes) return {not_drawn("the colour target crosses device buffers")};

  const auto primitive = draw_shader(
      state.primitive_shader, {.kind = shader::StageKind::primitive, .parameters = state.parameters}, groups->threads);
  const auto pixel = draw_shader(state.pixel_shader,
                                 {.kind = shader::StageKind::pixel,
                                  .parameters = state.parameters,
                                  .inputs = state.input_address,
                                  .input_control = state.input_control},
                                 0);
  if (lost) return {lost_refusal()};
  refusals = shader_refusals(*primitive, state.primitive_shader);
  for (Refusal& refusal : shader_refusals(*pixel, state.pixel_shader)) refusals.push_back(std::move(refusal));
  if (!refusals.empty()) return refusals;

  if (options.guard != nullptr) {
    if (options.guard->quarantined(primitive->content) || options.guard->quarantined(pixel->content)) {
      return {{"quarantine", fmt::format("programs {:#x} and {:#x} have ended lives of this service and draw no more",
                                         state.primitive_shader.program.value, state.pixel_shader.program.value)}};
    }
    // Either program's end is put down to the pixel shader, without which there is no draw.
    DispatchState blamed;
    blamed.program = state.pixel_shader.program;
    blamed.queue = state.queue;
    blamed.sequence = state.sequence;
    blamed.packet_offset = state.packet_offset;
    options.guard->running(blamed, pixel->content);
  }
  const VkFormat format = state.target.component_swap == 1 ? VK_FORMAT_B8G8R8A8_UNORM : VK_FORMAT_R8G8B8A8_UNORM;
  const DrawShelf::Key image_key{static_cast<uint64_t>(format), state.target.width, state.target.height};
  auto image = draws->images.find(image_key);
  if (image == draws->images.end()) {
    auto made = draw::ColourImage::create(device, format, state.target.width, state.target.height);
    if (!made) return {not_drawn(made.error().describe())};
    image = draws->images.emplace(image_key, std::move(*made)).first;
  }
  DrawShelf::Key pipeline_key{reinterpret_cast<uint64_t>(pixel.get()), static_cast<uint64_t>(format)};
  for (const uint32_t word : draw::pipeline_key(state)) pipeline_key.push_back(word);
  auto pipeline = draws->pipelines.find(pipeline_key);
  if (pipeline == draws->pipelines.end()) {
    auto made = draw::GraphicsPipeline::create(device, state, pixel->module.spirv, image->second.pass());
    if (!made) return {not_drawn(made.error().describe())};
    pipeline = draws->pipelines.emplace(pipeline_key, std::move(*made)).first;
  }
  auto start = vulkan::Buffer::create(device, {groups->all_bytes()}, vulkan::BufferPlace::upload, "draw memory");
  if (!start) return {not_drawn(start.error().describe())};
  draw::start_groups(state, *groups, primitives, start->mapped());

  const DrawParts parts{*groups, *primitive, pipeline->second, image->second, slice->address, start->address()};
  draws->in_use.push_back(std::move(*start));
  if (auto recorded = record_draw(state, parts); !recorded) return {lose(std::move(recorded.error()))};
  const uint64_t begin = pieces->front().offset.value;
  pending.add({begin, begin + bytes});
  if (primitive->module.writes_anywhere || pixel->module.writes_anywhere) pending.add_anything();
  ++counters.draws;
  if (careful()) {
    if (auto over = wait_recorded(); !over) return {lost_refusal()};
    options.guard->over();
  }
  return {};
}

std::vector<Refusal> DispatchExecutor::draw(const draw::DrawState& state) { return state_->draw(state); }

}  // namespace orrery::dispatch
