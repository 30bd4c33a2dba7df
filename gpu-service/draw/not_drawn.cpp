// What is not drawn yet, by name; and the state for people.
#include <fmt/format.h>

#include "gpu-service/draw/draw_state.hpp"

namespace orrery::draw {
namespace {

constexpr uint32_t kColour8888 = 10, kUnorm = 0;
constexpr uint32_t kMostPixels = 16384;  // of a side: what the registers can say

bool bit(uint32_t word, uint32_t at) { return (word >> at & 1) != 0; }

class Named {
 public:
  template <class... Args>
  void when(bool wrong, fmt::format_string<Args...> text, Args&&... args) {
    if (wrong) all.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  std::vector<std::string> all;
};

void check_geometry(Named& named, const DrawState& s) {
  named.when(s.legacy_stages, "VGT_SHADER_STAGES_EN without PRIMGEN_EN alone (tessellation or the legacy pipeline)");
  named.when(s.primitive_shader.program.value == 0, "no primitive shader (SPI_SHADER_PGM_LO_ES and _GS are 0)");
  named.when(s.pixel_shader.program.value == 0, "no pixel shader (SPI_SHADER_PGM_LO_PS is 0)");
  for (const Stage* stage : {&s.primitive_shader, &s.pixel_shader}) {
    const char* name = stage == &s.pixel_shader ? "pixel" : "primitive";
    named.when(stage->scratch, "scratch memory of the {} shader", name);
    named.when(stage->user_sgprs > 16, "{} user data words of the {} shader; 16 at most", stage->user_sgprs, name);
  }
  named.when(s.output > OutputPrimitive::triangles, "VGT_GS_OUT_PRIM_TYPE {}", static_cast<uint32_t>(s.output));
  named.when(s.position_exports != 1 || (s.vs_out_control & 0x00ffffff) != 0,
             "more than a position from the primitive shader (SPI_SHADER_POS_FORMAT, PA_CL_VS_OUT_CNTL {:#x})",
             s.vs_out_control);
  named.when(s.group_primitives == 0 || s.group_vertices < corners_of(s.output), "GE_CNTL with groups of nothing");
  named.when((s.input_enable & ~s.input_address) != 0, "SPI_PS_INPUT_ENA {:#x} beyond SPI_PS_INPUT_ADDR {:#x}",
             s.input_enable, s.input_address);
}

void check_raster(Named& named, const DrawState& s) {
  named.when((s.viewport_control & 0x73f) != 0x43f, "PA_CL_VTE_CNTL {:#x}", s.viewport_control);
  // Handled: DX_CLIP_SPACE_DEF, DIS_CLIP_ERR_DETECT, DX_LINEAR_ATTR_CLIP_ENA.
  named.when((s.clip & ~0x01180000u) != 0, "PA_CL_CLIP_CNTL {:#x}", s.clip);
  named.when(s.window_offset != 0, "PA_SC_WINDOW_OFFSET {:#x}", s.window_offset);
  named.when((s.raster >> 3 & 3) != 0, "PA_SU_SC_MODE_CNTL.POLY_MODE");
  named.when((s.raster >> 11 & 7) != 0, "PA_SU_SC_MODE_CNTL polygon offset");
  named.when(bit(s.raster, 19), "PA_SU_SC_MODE_CNTL.PROVOKING_VTX_LAST");
  named.when(!s.pixel_centres, "PA_SU_VTX_CNTL.PIX_CENTER at integers");
  const bool points = s.output == OutputPrimitive::points, lines = s.output == OutputPrimitive::lines;
  named.when(points && s.point_width != s.point_height, "points of {} x {}", s.point_width, s.point_height);
  named.when(lines && s.line_width != 1, "lines {} wide", s.line_width);
}

void check_target(Named& named, const DrawState& s) {
  const ColourTarget& t = s.target;
  named.when(s.colour_mode != 1, "CB_COLOR_CONTROL.MODE {}", s.colour_mode);
  named.when(s.raster_operation != 0xcc, "CB_COLOR_CONTROL.ROP3 {:#x}", s.raster_operation);
  named.when(s.other_targets != 0, "colour targets beyond the first (CB_TARGET_MASK)");
  named.when(t.base.value == 0, "a colour target at address 0");
  named.when(t.format != kColour8888 || t.number_type != kUnorm, "colour format {}, number type {}", t.format,
             t.number_type);
  named.when(t.component_swap > 1, "COMP_SWAP {}", t.component_swap);
  named.when(t.swizzle != SwizzleMode::linear && t.swizzle != SwizzleMode::r_64k_x, "colour swizzle mode {}",
             static_cast<uint32_t>(t.swizzle));
  named.when(t.compressed, "a compressed colour target (DCC, CMASK)");
  named.when(t.samples != 1, "{} samples", t.samples);
  named.when(t.mip != 0 || t.first_slice != 0 || t.last_slice != 0, "a mip level or slice as a colour target");
  named.when(t.width > kMostPixels || t.height > kMostPixels, "a colour target of {} x {}", t.width, t.height);
  named.when(bit(t.blend, 30), "blending (CB_BLEND0_CONTROL {:#x})", t.blend);
  named.when(t.export_format != 9 && t.export_format != 4 && t.export_format != 0, "SPI_SHADER_COL_FORMAT {}",
             t.export_format);
  // STENCIL_ENABLE, Z_ENABLE, Z_WRITE_ENABLE, DEPTH_BOUNDS_ENABLE.
  named.when((s.depth.control & 0xf) != 0, "depth and stencil (DB_DEPTH_CONTROL {:#x})", s.depth.control);
  // Z_EXPORT, STENCIL exports, MASK_EXPORT.
  named.when((s.shader_control & 0x187) != 0, "depth, stencil or mask from the pixel shader (DB_SHADER_CONTROL {:#x})",
             s.shader_control);
}

}  // namespace

std::vector<std::string> not_drawn(const DrawState& state) {
  Named named;
  check_geometry(named, state);
  check_raster(named, state);
  check_target(named, state);
  return std::move(named.all);
}

const char* name_of(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::points:
      return "points";
    case PrimitiveType::lines:
      return "lines";
    case PrimitiveType::line_strip:
      return "line strip";
    case PrimitiveType::triangles:
      return "triangles";
    case PrimitiveType::triangle_fan:
      return "triangle fan";
    case PrimitiveType::triangle_strip:
      return "triangle strip";
    case PrimitiveType::rectangles:
      return "rectangles";
    case PrimitiveType::none:
      break;
  }
  return "unknown primitives";
}

std::string describe(const DrawState& s) {
  constexpr const char* kOutputs[] = {"points", "lines", "triangles", "rectangles"};
  std::string text =
      fmt::format("draw: {} vertices as {}, {} instance(s)", s.vertices, name_of(s.primitive), s.instances);
  if (s.indexed) text += fmt::format(", {}-byte indices at {:#x}", s.index_bytes, s.indices.value);
  const auto stage = [&](const char* name, const Stage& at) {
    text += fmt::format("\n{}: {:#x}, wave {}, rsrc1 {:#x}, {} user data words", name, at.program.value, at.wave,
                        at.rsrc1, at.user_sgprs);
    for (uint32_t i = 0; i < at.user_sgprs && i < at.user_data.size(); ++i) {
      text += fmt::format("{}{:#x}", i == 0 ? ": " : " ", at.user_data[i]);
    }
  };
  stage("primitive shader", s.primitive_shader);
  text += fmt::format("\n  exports {}, {} parameters, groups of {} primitives and {} vertices{}",
                      s.output <= OutputPrimitive::rectangles ? kOutputs[static_cast<uint32_t>(s.output)] : "?",
                      s.parameters, s.group_primitives, s.group_vertices, s.passthrough ? ", passthrough" : "");
  stage("pixel shader", s.pixel_shader);
  text += fmt::format("\n  inputs {:#x}", s.input_address);
  text += fmt::format("\nviewport: x {} + {} x, y {} + {} y, z {} + {} z", s.viewport.offset[0], s.viewport.scale[0],
                      s.viewport.offset[1], s.viewport.scale[1], s.viewport.offset[2], s.viewport.scale[2]);
  text += fmt::format("\nscissor: {},{} to {},{}", s.scissor.left, s.scissor.top, s.scissor.right, s.scissor.bottom);
  text += fmt::format("\nraster: PA_SU_SC_MODE_CNTL {:#x}, PA_CL_CLIP_CNTL {:#x}", s.raster, s.clip);
  text +=
      fmt::format("\ncolour target: {:#x}, {} x {}, format {}, number type {}, swap {}, swizzle mode {}, mask {:#x}",
                  s.target.base.value, s.target.width, s.target.height, s.target.format, s.target.number_type,
                  s.target.component_swap, static_cast<uint32_t>(s.target.swizzle), s.target.write_mask);
  text += fmt::format("\nblend: {:#x}; depth: {:#x}", s.target.blend, s.depth.control);
  if ((s.depth.control & 0xf) != 0) {
    text += fmt::format(", {:#x}, {} x {}, format {}, swizzle mode {}", s.depth.base.value, s.depth.width,
                        s.depth.height, s.depth.format, static_cast<uint32_t>(s.depth.swizzle));
  }
  for (const std::string& reason : not_drawn(s)) text += "\nnot drawn: " + reason;
  return text + "\n";
}

}  // namespace orrery::draw
