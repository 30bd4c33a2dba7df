// What a program is in the graphics pipeline, and the memory that a draw's stages share.
// A primitive shader (the merged ES/GS stage) runs as a compute program: a workgroup is one of the hardware's groups of
// primitives. It reads its entry registers from the draw's memory and exports into it; the host's own vertex shader
// reads positions from there, the pixel shader parameters.
#pragma once

#include <array>
#include <cstdint>

namespace orrery::shader {

enum class StageKind : uint8_t { compute, primitive, pixel };

struct GraphicsStage {
  StageKind kind = StageKind::compute;
  uint32_t parameters = 0;                   // vec4s that the primitive shader exports for the pixel shader
  uint32_t inputs = 0;                       // pixel: SPI_PS_INPUT_ADDR, which registers are set
  std::array<uint32_t, 32> input_control{};  // pixel: SPI_PS_INPUT_CNTL
  friend bool operator==(const GraphicsStage&, const GraphicsStage&) = default;
};

// A group's part of the draw's memory, in bytes: header, what each thread starts with, what each exports as a
// primitive, each thread's vertex (position, then parameters). PushConstants::bound_info is the address of the first.
namespace draw_memory {
inline constexpr uint32_t kGroupInfo = 0;  // s2, gs_tg_info: vertices 20:12, primitives 30:22
inline constexpr uint32_t kAllocated = 4;  // what GS_ALLOC_REQ asked for: vertices 10:0, primitives 22:12
inline constexpr uint32_t kWaveInfo = 16;  // s3 of each wave, merged_wave_info: vertices 7:0, primitives 15:8
inline constexpr uint32_t kMostWaves = 8;
inline constexpr uint32_t kThreads = 64;  // the header's size
// Words of a thread.
inline constexpr uint32_t kConnectivity = 0, kThirdVertex = 1, kPrimitiveId = 2, kVertexId = 4, kInstanceId = 5;
inline constexpr uint32_t kThreadBytes = 32;

constexpr uint32_t primitives_at(uint32_t threads) { return kThreads + threads * kThreadBytes; }
constexpr uint32_t vertices_at(uint32_t threads) { return primitives_at(threads) + threads * 4; }
constexpr uint32_t vertex_bytes(uint32_t parameters) { return 16 * (1 + parameters); }
constexpr uint32_t group_bytes(uint32_t threads, uint32_t parameters) {
  return vertices_at(threads) + threads * vertex_bytes(parameters);
}
}  // namespace draw_memory

// Per-lane values of a pixel (ir::Op::stage_input), as bits.
enum class StageInput : uint32_t {
  perspective_i,  // weight of the second corner; then of the third
  perspective_j,
  linear_i,  // the same in the window
  linear_j,
  x,  // of the pixel's centre
  y,
  z,
  w,
  vertex_0,  // where the corners' vertices lie in the draw's memory, bytes
  vertex_1,
  vertex_2,
  covered,  // 0: the lane is only there for its neighbours
};

// ir::Space::output: what an access' binding names.
inline constexpr uint32_t kMostTargets = 8;
inline constexpr uint32_t kKeepsPixels = kMostTargets;  // pixels of these lanes are not discarded; no data

}  // namespace orrery::shader
