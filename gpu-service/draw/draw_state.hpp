// Everything a draw depends on besides memory, taken out of a queue's registers: plain data.
// Registers, fields and their places: AMD's public gc_10_3_0 headers; values of the console: guest-abi facts,
// section 5.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shared/quantity.hpp"

namespace orrery::draw {

// VGT_PRIMITIVE_TYPE: what the vertices are put together to.
enum class PrimitiveType : uint8_t {
  none = 0,
  points = 1,
  lines = 2,
  line_strip = 3,
  triangles = 4,
  triangle_fan = 5,
  triangle_strip = 6,
  rectangles = 17,
};
const char* name_of(PrimitiveType type);

// VGT_GS_OUT_PRIM_TYPE: what the primitive shader exports.
enum class OutputPrimitive : uint8_t { points = 0, lines = 1, triangles = 2, rectangles = 3 };
// Vertices of one.
uint32_t corners_of(OutputPrimitive primitive);

// The swizzle modes that are known here (SW_MODE).
enum class SwizzleMode : uint8_t { linear = 0, z_64k_x = 24, r_64k_x = 27 };

struct Stage {
  GuestAddress program;  // 0: none
  uint32_t rsrc1 = 0;    // FLOAT_MODE 19:12, DX10_CLAMP 21, IEEE_MODE 23
  bool scratch = false;
  uint32_t user_sgprs = 0;
  uint32_t lds_bytes = 0;
  uint32_t wave = 64;  // lanes
  std::array<uint32_t, 32> user_data{};
  friend bool operator==(const Stage&, const Stage&) = default;
};

// A rectangle of pixels: from `left`, `top` up to and without `right`, `bottom`.
struct Scissor {
  int32_t left = 0, top = 0, right = 0, bottom = 0;
  bool empty() const { return right <= left || bottom <= top; }
  friend bool operator==(const Scissor&, const Scissor&) = default;
};

struct Viewport {  // window = offset + scale * (clip / w)
  std::array<float, 3> scale{}, offset{};
  float z_min = 0, z_max = 1;  // clamped to
  friend bool operator==(const Viewport&, const Viewport&) = default;
};

struct ColourTarget {
  GuestAddress base;
  uint32_t width = 0, height = 0;  // pixels
  uint32_t format = 0;             // CB_COLOR0_INFO.FORMAT
  uint32_t number_type = 0;        // 0 UNORM, 1 SNORM, 4 UINT, 5 SINT, 6 SRGB, 7 FLOAT
  uint32_t component_swap = 0;     // 0 standard (R,G,B,A), 1 alternate (B,G,R,A), 2, 3 reversed
  SwizzleMode swizzle = SwizzleMode::linear;
  bool compressed = false;  // DCC, CMASK or FMASK
  uint32_t samples = 1, mip = 0, first_slice = 0, last_slice = 0;
  uint32_t write_mask = 0;     // CB_TARGET_MASK and CB_SHADER_MASK, R bit 0
  uint32_t blend = 0;          // CB_BLEND0_CONTROL; ENABLE bit 30
  uint32_t export_format = 0;  // SPI_SHADER_COL_FORMAT: 4 FP16, 5 UNORM16, 9 32_ABGR ...
  friend bool operator==(const ColourTarget&, const ColourTarget&) = default;
};

struct DepthState {
  uint32_t control = 0;  // DB_DEPTH_CONTROL: Z_ENABLE 1, Z_WRITE_ENABLE 2, ZFUNC 6:4, STENCIL_ENABLE 0
  GuestAddress base;
  uint32_t format = 0, width = 0, height = 0;  // Z_INFO.FORMAT: 1 Z_16, 3 Z_32_FLOAT
  SwizzleMode swizzle = SwizzleMode::z_64k_x;
  bool htile = false;
  friend bool operator==(const DepthState&, const DepthState&) = default;
};

struct DrawState {
  // What is drawn.
  PrimitiveType primitive = PrimitiveType::none;
  uint32_t vertices = 0, instances = 1;
  uint32_t first_vertex = 0;
  bool indexed = false;
  GuestAddress indices;
  uint32_t index_bytes = 2;

  // The merged ES/GS stage (the primitive shader), and the pixel shader.
  Stage primitive_shader, pixel_shader;
  bool legacy_stages = false;  // VGT_SHADER_STAGES_EN without PRIMGEN_EN, or with tessellation
  bool passthrough = false;    // PRIMGEN_PASSTHRU_EN: v0 is the connectivity to export
  OutputPrimitive output = OutputPrimitive::triangles;
  uint32_t group_primitives = 0, group_vertices = 0;  // GE_CNTL
  uint32_t parameters = 0;                            // exported to the pixel shader
  uint32_t position_exports = 1;
  uint32_t vs_out_control = 0;                   // PA_CL_VS_OUT_CNTL
  uint32_t input_enable = 0, input_address = 0;  // SPI_PS_INPUT_ENA, ADDR
  std::array<uint32_t, 32> input_control{};      // SPI_PS_INPUT_CNTL: OFFSET 5:0, DEFAULT_VAL 9:8, FLAT_SHADE 10

  // Raster.
  Viewport viewport;
  Scissor scissor;                // of all scissors
  uint32_t raster = 0;            // PA_SU_SC_MODE_CNTL: CULL_FRONT 0, CULL_BACK 1, FACE 2, POLY_MODE 4:3
  uint32_t clip = 0;              // PA_CL_CLIP_CNTL: DX_CLIP_SPACE_DEF 19
  uint32_t viewport_control = 0;  // PA_CL_VTE_CNTL
  float point_width = 1, point_height = 1, line_width = 1;  // pixels
  bool pixel_centres = true;                                // PA_SU_VTX_CNTL: at halves
  uint32_t window_offset = 0;                               // PA_SC_WINDOW_OFFSET

  ColourTarget target;
  uint32_t other_targets = 0;  // bits of CB_TARGET_MASK beyond target 0
  uint32_t colour_mode = 0;    // CB_COLOR_CONTROL.MODE: 0 off, 1 normal
  uint32_t raster_operation = 0xcc;
  DepthState depth;
  uint32_t shader_control = 0;  // DB_SHADER_CONTROL

  // Where it came from, for reports.
  uint32_t queue = 0;
  uint64_t sequence = 0;
  uint32_t packet_offset = 0;  // dwords
  friend bool operator==(const DrawState&, const DrawState&) = default;
};

// A register's value by its dword index (0x2C00.. SH, 0xA000.. context, 0xC000.. uconfig).
using ReadRegister = std::function<uint32_t(uint32_t)>;
// What the registers say; the packet's own fields are the caller's to set.
DrawState draw_state_of(const ReadRegister& read);

// What of the state is not drawn here, each by the name of its register or field; empty: it can be drawn.
std::vector<std::string> not_drawn(const DrawState& state);

// For people: a line for each field that says something.
std::string describe(const DrawState& state);

}  // namespace orrery::draw
