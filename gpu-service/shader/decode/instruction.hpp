// One decoded gfx10.3 instruction. Encodings: AMD "RDNA 2" ISA document, chapter 13; LLVM's AMDGPU target for
// gfx1013/gfx1030.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery::shader {

enum class Format : uint8_t {
  sop1,
  sop2,
  sopc,
  sopk,
  sopp,
  smem,
  vop1,
  vop2,
  vopc,
  vop3,
  vop3p,
  vintrp,
  ds,
  mubuf,
  mtbuf,
  mimg,
  flat,
  global,
  scratch,
  exp,
};

// One enumerator per mnemonic without encoding suffix: v_add_f32 is the same opcode as _e32, _e64, _sdwa and _dpp.
enum class Opcode : uint16_t {
  invalid = 0,
#define ORRERY_OPCODE(name) name,
#include "gpu-service/shader/decode/opcode_names.inc"
#undef ORRERY_OPCODE
  count,
};
std::string_view mnemonic(Opcode opcode);

enum class OperandKind : uint8_t {
  none,
  sgpr,      // index 0..105 s0..s105, 106/107 vcc, 108..123 ttmp, 124 m0, 125 null, 126/127 exec (hardware numbering)
  vgpr,      // index 0..255
  constant,  // inline constant; `value` holds the low 32 bits as an integer or as f32 bits; see inline_float
  literal,   // 32-bit literal behind the instruction
  special,   // index: 235 shared_base, 236 shared_limit, 237 private_base, 238 private_limit, 239 pops_exiting_wave_id,
             // 251 vccz, 252 execz, 253 scc, 254 lds_direct
};

// SDWA selectors (SDWA_SEL): byte 0..3, word 0..1, dword.
enum class SdwaSelect : uint8_t { byte0, byte1, byte2, byte3, word0, word1, dword };

struct Operand {
  OperandKind kind = OperandKind::none;
  uint8_t dwords =
      1;  // registers it spans (a 16-bit value counts as 1; a lane mask as 2, of which wave32 uses the first)
  bool lane_mask = false;  // one bit per lane: one register in wave32, two in wave64
  uint16_t index = 0;
  uint32_t value = 0;  // constant / literal bits
  bool inline_float =
      false;  // constant is one of 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi): the operand's type decides its width
  bool negate = false;  // source modifiers (VOP3 / SDWA / DPP / VOP3P neg_lo)
  bool absolute = false;
  bool negate_high = false;  // VOP3P neg_hi
  bool sign_extend = false;  // SDWA sext
  SdwaSelect select = SdwaSelect::dword;
};

struct Dpp {
  enum class Kind : uint8_t { none, dpp16, dpp8 } kind = Kind::none;
  uint16_t control = 0;  // DPP_CTRL of dpp16; for dpp8 see lanes
  uint8_t row_mask = 0xf;
  uint8_t bank_mask = 0xf;
  bool bound_control = false;
  bool fetch_inactive = false;
  uint32_t lanes = 0;  // dpp8: 3 bits per lane
};

struct Sdwa {
  bool present = false;
  SdwaSelect destination = SdwaSelect::dword;
  uint8_t unused = 0;  // 0 pad with zero, 1 sign extend, 2 preserve
};

struct Instruction {
  Opcode opcode = Opcode::invalid;
  Format format = Format::sopp;
  uint8_t size = 4;                 // bytes, literals and DPP/SDWA words included (4, 8, 12, 16, 20)
  uint32_t offset = 0;              // bytes from the start of the program
  std::array<uint32_t, 5> words{};  // as fetched

  // Destinations and sources in the order LLVM prints them. VOPC: destination is the mask (vcc, or an SGPR pair in
  // VOP3; exec for v_cmpx). VOP2 carry forms name vcc explicitly. Memory: see the named members below.
  Operand destination;
  Operand destination2;  // carry-out mask of VOP3B forms, second result
  std::array<Operand, 4> sources{};
  uint8_t source_count = 0;

  // VOP modifiers
  bool clamp = false;
  uint8_t output_modifier = 0;  // omod: 0 none, 1 *2, 2 *4, 3 /2
  uint8_t op_select = 0;        // op_sel (VOP3: bits 0..2 sources, 3 destination; VOP3P: low halves)
  uint8_t op_select_high = 0;   // VOP3P op_sel_hi
  Dpp dpp;
  Sdwa sdwa;

  // Scalar immediate: SIMM16 of SOPK/SOPP (sign-extended where the instruction does), s_waitcnt bits, branch
  // displacement in dwords.
  int32_t immediate = 0;

  // Memory. Registers: address (VGPRs), data (VGPRs; for loads it is `destination` too), resource (SGPRs of V#/T#),
  // sampler (SGPRs), base (SMEM sbase, global saddr; kind none when off), scalar_offset (soffset).
  Operand address, data, data2, resource, sampler, base, scalar_offset;
  int32_t memory_offset = 0;  // signed where the encoding is
  uint8_t offset1 = 0;        // ds_read2/write2: second offset (memory_offset is the first)
  bool glc = false, dlc = false, slc = false, lds = false, gds = false, tfe = false, lwe = false;
  bool offen = false, idxen = false, addr64 = false;
  uint8_t data_format = 0;     // MTBUF unified format
  uint8_t dmask = 0, dim = 0;  // MIMG
  bool unorm = false, r128 = false, a16 = false, d16 = false;
  uint8_t nsa_count = 0;          // MIMG: extra address dwords
  std::array<uint8_t, 16> nsa{};  // MIMG address VGPRs, the first included, when nsa_count > 0
  // EXP
  uint8_t export_target = 0, export_mask = 0;
  bool export_done = false, export_compressed = false, export_valid_mask = false;
  // VINTRP
  uint8_t attribute = 0, attribute_channel = 0;
};

}  // namespace orrery::shader
