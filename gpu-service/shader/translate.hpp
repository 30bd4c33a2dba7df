// The translator's interface: guest program words in, SPIR-V module out. Knows no Vulkan and no guest memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu-service/shader/decode/decoder.hpp"
#include "gpu-service/shader/lanes/lane_gate.hpp"
#include "gpu-service/shader/scalar_slice.hpp"
#include "gpu-service/shader/stage.hpp"
#include "shared/content_hash.hpp"

namespace orrery::shader {

// Why a program is not translated: named, with the place. One program may have several.
struct ShaderRefusal {
  uint32_t offset = 0;   // bytes from the start of the program
  std::string mnemonic;  // or "program" when it is no single instruction
  std::string reason;
};

// A decoded program: every instruction reachable from its first (code behind s_endpgm is not touched).
struct Program {
  std::vector<Instruction> instructions;  // ascending offsets
  uint32_t extent = 0;                    // bytes from the start to the end of the last reachable instruction
  ContentHash hash;                       // over the decoded extent
};

// Gives the program's words: fetch(offset in bytes, wanted dwords) answers as many as are mapped (possibly fewer or
// none).
using CodeFetch = std::function<std::span<const uint32_t>(uint32_t offset, uint32_t dwords)>;
inline constexpr uint32_t kMaxProgramBytes = 4u << 20;
std::expected<Program, ShaderRefusal> read_program(const CodeFetch& fetch, Target target = Target::gfx1013);

// What the host device offers, as far as the module depends on it.
struct HostFeatures {
  bool fuses_fma = true;            // OpExtInst Fma really fuses (lavapipe 22.3 does not)
  bool fma_keeps_denormals = true;  // in a module that demands it; NVIDIA's driver flushes those of 32 bits
  bool rounds_halves = true;  // a float made a half and a float again is rounded; NVIDIA's driver takes it as it was
  bool orders_zeros = false;  // NMin and NMax take -0 for less than +0 (lavapipe 22.3 does not)
  bool float16 = true, float64 = true, int8 = true, int16 = true, int64 = true;
  // Widths (16, 32, 64 or'ed) of which a module may demand that denormals live (DenormPreserve), and that signs of
  // zeros, infinities and NaNs count (SignedZeroInfNanPreserve). Elsewhere the driver does as it likes.
  uint32_t keeps_denormals_of = 0, keeps_special_of = 0;
  bool buffer_int64_atomics = true, shared_int64_atomics = true;
  bool workgroup_views = false;  // workgroupMemoryExplicitLayout: the same bytes as 32 and as 64 bits
  bool lockstep_subgroups =
      false;  // a subgroup runs as one vector (lavapipe): its lanes need no fences among themselves
  uint32_t workgroup_memory = 32768;  // bytes
  uint32_t max_invocations = 1024;
  // Subgroup widths that can be required, full; max_subgroup 0: not known.
  uint32_t min_subgroup = 1, max_subgroup = 128;
  uint32_t max_subgroups = 0;  // of a workgroup; 0: no limit of its own
  uint32_t loop_limit =
      0;  // the driver silently ends an invocation's loops after so many rounds in all (lavapipe 65,535); 0: never
};

struct TranslateOptions {
  LaneLayout layout;
  HostFeatures host;
  std::array<uint32_t, 3> group_size{1, 1, 1};  // threads
  uint32_t rsrc1 = 0;                           // COMPUTE_PGM_RSRC1: FLOAT_MODE 19:12, DX10_CLAMP 21, IEEE_MODE 23
  uint32_t rsrc2 = 0;           // COMPUTE_PGM_RSRC2: SCRATCH_EN 0, USER_SGPR 5:1, TGID_X/Y/Z_EN 7/8/9, TG_SIZE_EN 10,
                                // TIDIG_COMP_CNT 12:11, LDS_SIZE 23:15 (128-dword units)
  bool partial_groups = false;  // totals are in threads: groups at the edge are not full (PushConstants::threads)
  bool bind_buffers = true;     // false: every buffer access goes through the device page table
  uint32_t scratch_dwords = 0;  // private memory per lane, dwords
  GraphicsStage stage;          // compute, unless it is part of a draw
};

struct BoundBuffer {
  DescriptorSource source;
  bool read = false, written = false;
  bool scalar = false;  // by scalar instructions, which count records of its stride whatever its check says
  bool typed = false;   // with its format, which the pipeline may be given
};
// An image whose T# is traced. Nothing is bound for it: the module takes the T# apart itself.
struct TracedImage {
  ImageSource source;
  bool read = false, written = false;
};

// The module's interface to the host ("module ABI"):
// - entry point "main", GLCompute, LocalSize (waves per group * layout.invocations(), 1, 1); full subgroups of
// layout.required_subgroup() required when that is not 0;
// - descriptor set 0, binding i: storage buffer i of `buffers`;
// - push constants: PushConstants below;
// - specialization constants, where has_constants(): descriptor_constants.hpp.
// A pixel shader is a Fragment entry point instead (stage.hpp): inputs at locations 0 (weights of corners 1 and 2, with
// perspective), 1 (without) and 2 (three places in the draw's memory, flat), outputs at the targets' numbers; no
// buffers.
struct PushConstants {
  std::array<uint32_t, 16> user_data;  // offset 0
  uint64_t page_table;                 // 64: device address of the level-1 table
  uint64_t escapes;                    // 72: device address of an EscapeReport
  uint64_t bound_info;                 // 80: device address of BoundInfo[buffers.size()]
  uint64_t scratch;  // 88: device address of Module::group_memory bytes of each group of a call: private memory (per
                     // wave, per dword, per lane), then LDS
  std::array<uint32_t, 3> first_group;  // 96: added to WorkgroupId
  uint32_t code_low;                    // 108: guest address of the program's first byte
  std::array<uint32_t, 3> threads;      // 112: total threads per dimension for partial groups; 0: all groups are full
  uint32_t code_high;                   // 124
};
static_assert(sizeof(PushConstants) == 128);
struct BoundInfo {
  uint32_t delta;  // bytes from the binding's start to the V#'s base address (alignment)
  uint32_t size;   // bytes from the V#'s base that are bound; accesses behind are out of bounds
};
// Device page table (design section 5): 40-bit guest addresses, 16 KiB pages. Level 1: 32768 device addresses of
// level-2 tables (0: none), index address >> 25. Level 2: 2048 PageEntry, index (address >> 14) & 2047.
inline constexpr uint32_t kPageBits = 14, kLevel1Shift = 25, kAddressBits = 40;
struct PageEntry {
  uint64_t read;   // device address of the page's bytes for loads, 0: absent
  uint64_t write;  // for stores and atomics, 0: absent
};
// Accesses outside the map are dropped (loads give 0) and recorded here.
struct EscapeReport {
  uint32_t count;
  uint32_t instruction;  // program offset of the first
  uint32_t address_low, address_high;
  uint32_t is_store;
  uint32_t loops_cut;  // not 0: an invocation came near HostFeatures::loop_limit rounds, so that its results are not to
                       // be trusted
  uint32_t image_refusal;  // not 0: an image access was refused: loads gave 0, stores did nothing (image_refusal.hpp)
  uint32_t reserved;
};

struct Module {
  std::vector<uint32_t> spirv;
  LaneLayout layout;
  std::array<uint32_t, 3> local_size{1, 1, 1};
  std::vector<BoundBuffer> buffers;
  std::vector<TracedImage> images;
  std::vector<DescriptorSource> samplers;  // S#s that are traced
  bool uses_page_table = false;
  bool reaches_images_only = false;  // through the page table: nothing but `images`
  // Stores or atomics whose place is neither a bound buffer's nor a traced image's: where they go is known only to the
  // program as it runs.
  bool writes_anywhere = false;
  uint32_t write_instruction = 0;  // offset of the first of them, and why it is not bound
  TraceEnd write_reason = TraceEnd::lanes;
  uint64_t group_memory = 0;   // bytes of device memory that each group has to itself, PushConstants::scratch
  bool lds_in_memory = false;  // it holds the group's LDS
  uint32_t workgroup_bytes = 0;
  ProgramNeeds needs;  // lockstep is only looked for where the layout needs fences
  // Facts for reports.
  uint32_t guest_instructions = 0;
  bool dispatcher_loop = false;  // control flow was not structured everywhere

  bool has_constants() const {
    return !images.empty() || std::ranges::any_of(buffers, [](const BoundBuffer& b) { return b.typed; });
  }
};

// The gate's view of the options: who chooses a layout and who emits code for it agree on it.
GroupShape group_shape(const TranslateOptions& options);
HostLanes host_lanes(const HostFeatures& host);

// What choosing a layout needs to know of a program. Of options.layout only the wave's width is looked at.
struct Analysis {
  ProgramNeeds needs;
  uint32_t guest_instructions = 0;
  bool dispatcher_loop = false;
};
std::expected<Analysis, std::vector<ShaderRefusal>> analyse(const Program& program, const TranslateOptions& options);

std::expected<Module, std::vector<ShaderRefusal>> translate(const Program& program, const TranslateOptions& options);

// Part of every cache key: changes whenever translate() may answer differently.
uint64_t translator_version();

}  // namespace orrery::shader
