// Exports, interpolation, and the messages of primitive shaders. Targets: AMD "RDNA 2" ISA document, chapter 11 and the
// EXP encoding; the primitive's word: Mesa's description of NGG, checked with console captures.
#include "gpu-service/shader/semantics/families.hpp"
#include "gpu-service/shader/semantics/shorthand.hpp"

namespace orrery::shader::semantics {
namespace {

using ir::Space;

enum Target : uint32_t {
  kFirstColour = 0,
  kDepth = 8,
  kNull = 9,
  kPosition = 12,
  kPrimitive = 20,
  kFirstParameter = 32,
};
constexpr uint32_t kAllocate = 9;  // MSG_GS_ALLOC_REQ

Value group_base(Builder& b) {
  const uint32_t bytes = draw_memory::group_bytes(group_shape(b.options()).threads(), b.options().stage.parameters);
  return b.op(Op::imul, b.op(Op::group_id, Type::u32, {}, 0), b.u32(bytes));
}

Value thread(Builder& b) {
  const uint32_t wave = b.options().layout.wave;
  if (group_shape(b.options()).threads() <= wave) return b.lane_id();
  return b.add(b.lane_id(), b.op(Op::imul, b.op(Op::wave_id, Type::u32, {}), b.u32(wave)));
}

// Of this lane's vertex or primitive; channels that are not exported keep what was there.
void store_channels(Builder& b, const Instruction& i, Value address, uint32_t offset) {
  for (uint32_t channel = 0; channel < 4; ++channel) {
    if ((i.export_mask >> channel & 1) == 0) continue;
    const Value data = b.vgpr(i.sources[channel].index);
    b.store({.space = Space::draw, .offset = static_cast<int32_t>(offset + channel * 4), .instruction = i.offset},
            b.exec(), address, std::span(&data, 1));
  }
}

Outcome export_vertex(Builder& b, const Instruction& i) {
  const GraphicsStage& stage = b.options().stage;
  const uint32_t threads = group_shape(b.options()).threads(), target = i.export_target;
  if (i.export_compressed) return refuse("a compressed export of a primitive shader");
  if (target == kPrimitive) {
    if ((i.export_mask & 1) == 0) return refuse("a primitive export without its word");
    const Value place = b.add(group_base(b), b.shl(thread(b), b.u32(2)));
    const Value data = b.vgpr(i.sources[0].index);
    b.store({.space = Space::draw,
             .offset = static_cast<int32_t>(draw_memory::primitives_at(threads)),
             .instruction = i.offset},
            b.exec(), place, std::span(&data, 1));
    return {};
  }
  uint32_t slot = 0;
  if (target >= kFirstParameter) {
    slot = 1 + target - kFirstParameter;
    if (slot > stage.parameters) {
      return refuse("exports parameter " + std::to_string(slot - 1) + "; SPI_VS_OUT_CONFIG has " +
                    std::to_string(stage.parameters));
    }
  } else if (target != kPosition) {
    return refuse("export target " + std::to_string(target) + " of a primitive shader");
  }
  const Value vertex = b.op(Op::imul, thread(b), b.u32(draw_memory::vertex_bytes(stage.parameters)));
  store_channels(b, i, b.add(group_base(b), vertex), draw_memory::vertices_at(threads) + slot * 16);
  return {};
}

// A channel's value as a float: compressed, two halves share a register.
Value channel_of(Builder& b, const Instruction& i, uint32_t channel) {
  if (!i.export_compressed) return b.vgpr(i.sources[channel].index, Type::f32);
  const Value pair = b.vgpr(i.sources[channel].index);
  const Value half = b.truncate(Type::u16, channel % 2 == 0 ? pair : b.lshr(pair, b.u32(16)));
  return b.op(Op::f_to_f, Type::f32, {b.as(Type::f16, half)});
}

Outcome export_colour(Builder& b, const Instruction& i) {
  const uint32_t target = i.export_target;
  if (target >= kMostTargets && target != kNull) {
    return refuse(target == kDepth ? "exports depth, stencil or a mask"
                                   : "export target " + std::to_string(target) + " of a pixel shader");
  }
  for (uint32_t channel = 0; channel < 4 && target != kNull; ++channel) {
    if ((i.export_mask >> channel & 1) == 0) continue;
    const Value data = channel_of(b, i, channel);
    b.store(
        {.space = Space::output, .binding = target, .offset = static_cast<int32_t>(channel), .instruction = i.offset},
        b.exec(), std::span<const Value>{}, std::span(&data, 1));
  }
  if (i.export_valid_mask) {
    b.store({.space = Space::output, .binding = kKeepsPixels, .instruction = i.offset}, b.exec(),
            std::span<const Value>{}, std::span<const Value>{});
  }
  return {};
}

Outcome do_export(Builder& b, const Instruction& i) {
  switch (b.options().stage.kind) {
    case StageKind::primitive:
      return export_vertex(b, i);
    case StageKind::pixel:
      return export_colour(b, i);
    case StageKind::compute:
      break;
  }
  return refuse("an export of a compute program");
}

Outcome send_message(Builder& b, const Instruction& i) {
  const auto message = static_cast<uint32_t>(i.immediate) & 15;
  if (b.options().stage.kind != StageKind::primitive || message != kAllocate) {
    return refuse("sends message " + std::to_string(message));
  }
  // The wave says it, whatever its execution mask.
  const Value said = b.sgpr(Builder::kM0), lanes = b.compare(Op::ieq, b.lane_id(), b.u32(0));
  b.store({.space = Space::draw, .offset = draw_memory::kAllocated, .instruction = i.offset}, lanes, group_base(b),
          std::span(&said, 1));
  return {};
}

// An attribute's channel at one of the primitive's corners.
Value corner(Builder& b, const Instruction& i, uint32_t parameter, uint32_t which) {
  const auto input = static_cast<uint32_t>(StageInput::vertex_0) + which;
  const uint32_t offset = 16 * (1 + parameter) + 4 * i.attribute_channel;
  const Value address = b.op(Op::stage_input, Type::u32, {}, input);
  return b.as(Type::f32, b.load({.space = Space::draw, .offset = static_cast<int32_t>(offset), .instruction = i.offset},
                                b.exec(), address)[0]);
}

// SPI_PS_INPUT_CNTL: OFFSET 5:0 (32 and up: a constant), FLAT_SHADE 10, PT_SPRITE_TEX 17, FP16_INTERP_MODE 19.
Outcome attribute_of(Builder& b, const Instruction& i, uint32_t& parameter, bool& flat) {
  const GraphicsStage& stage = b.options().stage;
  if (stage.kind != StageKind::pixel) return refuse("interpolates outside of a pixel shader");
  if (i.attribute >= stage.input_control.size()) return refuse("attribute " + std::to_string(i.attribute));
  const uint32_t control = stage.input_control[i.attribute];
  parameter = control & 63;
  flat = (control >> 10 & 1) != 0;
  if ((control >> 17 & 1) != 0 || (control >> 19 & 1) != 0) return refuse("a point sprite's or a half attribute");
  if (parameter >= 32) return refuse("an attribute that is a constant");
  if (parameter >= stage.parameters) {
    return refuse("attribute " + std::to_string(i.attribute) + " is parameter " + std::to_string(parameter) + " of " +
                  std::to_string(stage.parameters));
  }
  return {};
}

// D = P0 + (P1 - P0) * I, then D += (P2 - P0) * J; flat attributes have no differences.
template <uint32_t kCorner>
Outcome interpolate(Builder& b, const Instruction& i) {
  uint32_t parameter = 0;
  bool flat = false;
  if (auto ok = attribute_of(b, i, parameter, flat); !ok) return ok;
  const Value first = corner(b, i, parameter, 0);
  const Value sum = kCorner == 1 ? first : b.vgpr(i.destination.index, Type::f32);
  if (flat) {
    result(b, i, sum);
    return {};
  }
  const Value difference = b.op(Op::fsub, corner(b, i, parameter, kCorner), first);
  result(b, i, b.op(Op::fadd, sum, b.op(Op::fmul, difference, source(b, i, 0, Type::f32))));
  return {};
}

// Parameter 0: P1 - P0, 1: P2 - P0, 2: P0.
Outcome interpolate_move(Builder& b, const Instruction& i) {
  uint32_t parameter = 0;
  bool flat = false;
  if (auto ok = attribute_of(b, i, parameter, flat); !ok) return ok;
  const uint32_t which = i.sources[0].value;
  if (which > 2) return refuse("parameter " + std::to_string(which) + " of an attribute");
  const Value first = corner(b, i, parameter, 0);
  const Value v = which == 2 ? first : flat ? b.f32(0) : b.op(Op::fsub, corner(b, i, parameter, which + 1), first);
  result(b, i, v);
  return {};
}

}  // namespace

void add_graphics(SemanticTable& t) {
  set(t, Opcode::exp, do_export);
  set(t, Opcode::s_sendmsg, send_message);
  set(t, Opcode::v_interp_p1_f32, interpolate<1>);
  set(t, Opcode::v_interp_p2_f32, interpolate<2>);
  set(t, Opcode::v_interp_mov_f32, interpolate_move);
}

}  // namespace orrery::shader::semantics
