// Text of images, exports and interpolation.
#include <fmt/format.h>

#include "gpu-service/shader/decode/encoding.hpp"
#include "gpu-service/shader/decode/text.hpp"

namespace orrery::shader::text {

using table::Slot;

namespace {

std::string export_target(unsigned target) {
  if (target < 8) {
    return fmt::format("mrt{}", target);
  }
  if (target >= 12 && target <= 16) {
    return fmt::format("pos{}", target - 12);
  }
  if (target >= 32) {
    return fmt::format("param{}", target - 32);
  }
  return target == 8 ? "mrtz" : target == 9 ? "null" : target == 20 ? "prim" : fmt::format("invalid_target_{}", target);
}

void interpolate(std::string& text, const Instruction& instruction, uint32_t wave) {
  append(text, operand(instruction.destination, Slot::v1, wave));
  if (instruction.opcode == Opcode::v_interp_mov_f32) {
    constexpr const char* kParameters[] = {"p10", "p20", "p0"};
    const uint32_t parameter = instruction.sources[0].value;
    append(text, parameter < 3 ? std::string(kParameters[parameter]) : fmt::format("invalid_param_{}", parameter));
  } else {
    append(text, modified(instruction.sources[0], Slot::v1, wave));
  }
  append(text, fmt::format("attr{}.{}", instruction.attribute, "xyzw"[instruction.attribute_channel]));
  if (instruction.source_count > 1) {
    append(text, modified(instruction.sources[1], Slot::v1, wave));
  }
  constexpr const char* kOmod[] = {"", " mul:2", " mul:4", " div:2"};
  text += instruction.op_select != 0 ? " high" : "";
  text += instruction.clamp ? " clamp" : "";
  text += kOmod[instruction.output_modifier];
}

}  // namespace

void image(std::string& text, const Instruction& instruction, uint32_t wave) {
  constexpr const char* kDims[] = {"1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
  append(text, operand(instruction.data, Slot::v1, wave));
  if (instruction.nsa_count == 0) {
    append(text, operand(instruction.address, Slot::v1, wave));
  } else {
    std::string list = "[";
    for (unsigned i = 0; i < instruction.address.dwords; ++i) {
      list += fmt::format("{}v{}", i == 0 ? "" : ", ", instruction.nsa[i]);
    }
    append(text, list + "]");
  }
  Operand resource = instruction.resource;
  if (instruction.r128 && !mnemonic(instruction.opcode).starts_with("image_bvh")) {
    resource.dwords = 8;  // as LLVM writes it; the hardware reads four
  }
  append(text, operand(resource, Slot::s8, wave));
  if (instruction.sampler.kind != OperandKind::none) {
    append(text, operand(instruction.sampler, Slot::s4, wave));
  }
  if (!mnemonic(instruction.opcode).starts_with("image_bvh")) {
    text += instruction.dmask != 0 ? fmt::format(" dmask:0x{:x}", instruction.dmask) : "";
    text += fmt::format(" dim:SQ_RSRC_IMG_{}", kDims[instruction.dim]);
    text += instruction.unorm ? " unorm" : "";
    text += instruction.glc ? " glc" : "";
    text += instruction.slc ? " slc" : "";
    text += instruction.dlc ? " dlc" : "";
    text += instruction.r128 ? " r128" : "";
  }
  text += instruction.a16 ? " a16" : "";
  text += instruction.tfe ? " tfe" : "";
  text += instruction.lwe ? " lwe" : "";
  text += instruction.d16 ? " d16" : "";
}

void export_or_interpolate(std::string& text, const Instruction& instruction, uint32_t wave) {
  if (instruction.format != Format::exp) {
    interpolate(text, instruction, wave);
    return;
  }
  text += " " + export_target(instruction.export_target) + " ";
  for (unsigned i = 0; i < 4; ++i) {
    text += (i == 0 ? "" : ", ") + operand(instruction.sources[i], Slot::v1, wave);
  }
  text += instruction.export_done ? " done" : "";
  text += instruction.export_compressed ? " compr" : "";
  text += instruction.export_valid_mask ? " vm" : "";
}

}  // namespace orrery::shader::text
