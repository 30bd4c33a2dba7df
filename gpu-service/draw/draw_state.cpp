#include "gpu-service/draw/draw_state.hpp"

#include <algorithm>
#include <bit>

#include "gpu-service/draw/registers.hpp"

namespace orrery::draw {
namespace {

constexpr uint32_t bits(uint32_t word, uint32_t from, uint32_t count) { return word >> from & ((1u << count) - 1); }
constexpr bool bit(uint32_t word, uint32_t at) { return (word >> at & 1) != 0; }

GuestAddress address_of(uint32_t low, uint32_t high) { return {(uint64_t{high & 0xff} << 32 | low) << 8}; }

Stage stage_of(const ReadRegister& read, uint32_t at, uint32_t program) {
  Stage stage;
  stage.program = address_of(read(program), read(program + 1));
  stage.rsrc1 = read(at + reg::kRsrc1);
  const uint32_t rsrc2 = read(at + reg::kRsrc2);
  stage.scratch = bit(rsrc2, 0);
  stage.user_sgprs = bits(rsrc2, 1, 5);
  for (uint32_t i = 0; i < stage.user_data.size(); ++i) stage.user_data[i] = read(at + reg::kUserData + i);
  return stage;
}

void take_stages(DrawState& state, const ReadRegister& read) {
  const uint32_t enabled = read(reg::kVgtShaderStagesEn);
  state.legacy_stages = !bit(enabled, 13) || bits(enabled, 0, 3) != 0;
  state.passthrough = bit(enabled, 25);
  // The merged stage runs from the ES address; its other registers are the GS ones.
  const uint32_t at = read(reg::kExportProgram) != 0 ? reg::kExportProgram : reg::kGeometryProgram;
  state.primitive_shader = stage_of(read, reg::kGeometryProgram, at);
  const uint32_t rsrc2 = read(reg::kGeometryProgram + reg::kRsrc2);
  state.primitive_shader.user_sgprs |= bits(rsrc2, 27, 1) << 5;
  state.primitive_shader.lds_bytes = bits(rsrc2, 19, 8) * 512;
  state.primitive_shader.wave = bit(enabled, 22) ? 32 : 64;
  state.pixel_shader = stage_of(read, reg::kPixelProgram, reg::kPixelProgram);
  state.pixel_shader.wave = bit(read(reg::kSpiPsInControl), 15) ? 32 : 64;
  state.output = static_cast<OutputPrimitive>(bits(read(reg::kVgtGsOutPrimType), 0, 6));
  const uint32_t groups = read(reg::kGeCntl), config = read(reg::kSpiVsOutConfig);
  state.group_primitives = bits(groups, 0, 9);
  state.group_vertices = bits(groups, 9, 9);
  state.parameters = bit(config, 7) ? 0 : bits(config, 1, 5) + 1;
  for (uint32_t format = read(reg::kSpiShaderPosFormat) >> 4; format != 0; format >>= 4) ++state.position_exports;
  state.vs_out_control = read(reg::kPaClVsOutCntl);
  state.input_enable = read(reg::kSpiPsInputEna);
  state.input_address = read(reg::kSpiPsInputAddr);
  for (uint32_t i = 0; i < state.input_control.size(); ++i) state.input_control[i] = read(reg::kSpiPsInputCntl0 + i);
}

void cut(Scissor& scissor, uint32_t top_left, uint32_t bottom_right) {
  const auto coordinate = [](uint32_t word, uint32_t from) { return static_cast<int32_t>(bits(word, from, 15)); };
  scissor.left = std::max(scissor.left, coordinate(top_left, 0));
  scissor.top = std::max(scissor.top, coordinate(top_left, 16));
  scissor.right = std::min(scissor.right, coordinate(bottom_right, 0));
  scissor.bottom = std::min(scissor.bottom, coordinate(bottom_right, 16));
}

void take_raster(DrawState& state, const ReadRegister& read) {
  const auto real = [&](uint32_t at) { return std::bit_cast<float>(read(at)); };
  for (uint32_t i = 0; i < 3; ++i) {
    state.viewport.scale[i] = real(reg::kPaClVportXscale + i * 2);
    state.viewport.offset[i] = real(reg::kPaClVportXscale + i * 2 + 1);
  }
  state.viewport.z_min = real(reg::kPaScVportZmin0);
  state.viewport.z_max = real(reg::kPaScVportZmin0 + 1);
  state.scissor = {0, 0, 0x7fff, 0x7fff};
  for (const uint32_t at : {reg::kPaScScreenScissorTl, reg::kPaScWindowScissorTl, reg::kPaScGenericScissorTl}) {
    cut(state.scissor, read(at), read(at + 1));
  }
  if (bit(read(reg::kPaScModeCntl0), 1)) {
    cut(state.scissor, read(reg::kPaScVportScissor0Tl), read(reg::kPaScVportScissor0Tl + 1));
  }
  state.window_offset = read(reg::kPaScWindowOffset);
  state.raster = read(reg::kPaSuScModeCntl);
  state.clip = read(reg::kPaClClipCntl);
  state.viewport_control = read(reg::kPaClVteCntl);
  // Half sizes, in sixteenths.
  const uint32_t point = read(reg::kPaSuPointSize);
  state.point_height = static_cast<float>(bits(point, 0, 16)) / 8;
  state.point_width = static_cast<float>(bits(point, 16, 16)) / 8;
  state.line_width = static_cast<float>(bits(read(reg::kPaSuLineCntl), 0, 16)) / 8;
  state.pixel_centres = bit(read(reg::kPaSuVtxCntl), 0);
}

void take_target(DrawState& state, const ReadRegister& read) {
  ColourTarget& target = state.target;
  const uint32_t info = read(reg::kCbColor0Info), view = read(reg::kCbColor0View);
  const uint32_t size = read(reg::kCbColor0Attrib2), mask = read(reg::kCbTargetMask);
  target.base = address_of(read(reg::kCbColor0Base), read(reg::kCbColor0BaseExt));
  target.width = bits(size, 14, 14) + 1;
  target.height = bits(size, 0, 14) + 1;
  target.format = bits(info, 2, 5);
  target.number_type = bits(info, 8, 3);
  target.component_swap = bits(info, 11, 2);
  // FAST_CLEAR, COMPRESSION, DCC_ENABLE.
  target.compressed = bits(info, 13, 2) != 0 || bit(info, 28);
  target.swizzle = static_cast<SwizzleMode>(bits(read(reg::kCbColor0Attrib3), 14, 5));
  target.samples = 1u << std::max(bits(read(reg::kPaScAaConfig), 0, 3), bits(read(reg::kCbColor0Attrib), 12, 3));
  target.first_slice = bits(view, 0, 13);
  target.last_slice = bits(view, 13, 13);
  target.mip = bits(view, 26, 4);
  target.write_mask = mask & read(reg::kCbShaderMask) & 0xf;
  target.blend = read(reg::kCbBlend0Control);
  target.export_format = bits(read(reg::kSpiShaderColFormat), 0, 4);
  state.other_targets = mask & read(reg::kCbShaderMask) & ~0xfu;
  state.colour_mode = bits(read(reg::kCbColorControl), 4, 3);
  state.raster_operation = bits(read(reg::kCbColorControl), 16, 8);
}

void take_depth(DrawState& state, const ReadRegister& read) {
  DepthState& depth = state.depth;
  const uint32_t info = read(reg::kDbZInfo), size = read(reg::kDbDepthSizeXy);
  depth.control = read(reg::kDbDepthControl);
  depth.base = address_of(read(reg::kDbZReadBase), read(reg::kDbZReadBaseHi));
  depth.format = bits(info, 0, 2);
  depth.swizzle = static_cast<SwizzleMode>(bits(info, 4, 5));
  depth.htile = bit(info, 29);
  depth.width = bits(size, 0, 14) + 1;
  depth.height = bits(size, 16, 14) + 1;
  state.shader_control = read(reg::kDbShaderControl);
}

}  // namespace

uint32_t corners_of(OutputPrimitive primitive) {
  return primitive == OutputPrimitive::points ? 1 : primitive == OutputPrimitive::lines ? 2 : 3;
}

DrawState draw_state_of(const ReadRegister& read) {
  DrawState state;
  state.primitive = static_cast<PrimitiveType>(bits(read(reg::kVgtPrimitiveType), 0, 6));
  const uint32_t index_type = bits(read(reg::kVgtIndexType), 0, 2);
  state.index_bytes = index_type == 0 ? 2 : index_type == 1 ? 4 : 1;
  take_stages(state, read);
  take_raster(state, read);
  take_target(state, read);
  take_depth(state, read);
  return state;
}

}  // namespace orrery::draw
