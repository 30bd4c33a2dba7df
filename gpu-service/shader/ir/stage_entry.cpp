// What the waves of a draw start with. Register layouts of merged ES/GS waves and pixel waves: LLVM's amdgpu_gs and
// amdgpu_ps calling conventions for gfx10; SPI_PS_INPUT_ADDR in AMD's public headers.
#include "gpu-service/shader/ir/builder_state.hpp"

namespace orrery::shader::ir {
namespace {

constexpr uint32_t kFirstUser = 8;  // s0 to s7 are the hardware's in a merged wave

// The word of a thread's memory that a VGPR comes from; kNothing: it starts as 0.
constexpr uint32_t kNothing = ~0u;
uint32_t thread_word(uint32_t vgpr) {
  switch (vgpr) {
    case 0:
      return draw_memory::kConnectivity;
    case 1:
      return draw_memory::kThirdVertex;
    case 2:
      return draw_memory::kPrimitiveId;
    case 5:
      return draw_memory::kVertexId;
    case 8:
      return draw_memory::kInstanceId;
    default:
      return kNothing;
  }
}

}  // namespace

Value Builder::State::stage_initial(uint32_t variable) {
  const TranslateOptions& o = builder.options();
  const bool pixel = o.stage.kind == StageKind::pixel;
  const auto add = [&](Op op, Type type, std::initializer_list<Value> args, uint32_t imm = 0) {
    const Value v = make(op, type, {args.begin(), args.size()}, imm, 0);
    prologue.push_back(v.id);
    return v;
  };
  const auto number = [&](uint32_t n) { return constant(Type::u32, n); };
  const uint32_t threads = group_shape(o).threads();
  const auto group_base = [&] {
    const uint32_t bytes = draw_memory::group_bytes(threads, o.stage.parameters);
    return add(Op::imul, Type::u32, {add(Op::group_id, Type::u32, {}, 0), number(bytes)});
  };
  const auto load = [&](Value address, uint32_t offset) {
    f.accesses.push_back({.space = Space::draw, .offset = static_cast<int32_t>(offset)});
    return add(Op::load, Type::u32, {constant(Type::b1, 1), address}, static_cast<uint32_t>(f.accesses.size() - 1));
  };
  const auto wave_info = [&] {
    const Value wave = add(Op::shl, Type::u32, {add(Op::wave_id, Type::u32, {}), number(2)});
    return load(add(Op::iadd, Type::u32, {group_base(), wave}), draw_memory::kWaveInfo);
  };
  const auto input = [&](StageInput which) {
    return add(Op::stage_input, Type::u32, {}, static_cast<uint32_t>(which));
  };

  if (variable < kVarNumber) {
    if (!pixel) {
      const uint32_t word = thread_word(variable);
      if (word == kNothing) return variable < 9 ? number(0) : undefined(Type::u32);
      Value thread = add(Op::lane_id, Type::u32, {});
      if (threads > o.layout.wave) {
        const Value first = add(Op::imul, Type::u32, {add(Op::wave_id, Type::u32, {}), number(o.layout.wave)});
        thread = add(Op::iadd, Type::u32, {thread, first});
      }
      const Value place = add(Op::imul, Type::u32, {thread, number(draw_memory::kThreadBytes)});
      return load(add(Op::iadd, Type::u32, {group_base(), place}), draw_memory::kThreads + word * 4);
    }
    // Registers follow each other as SPI_PS_INPUT_ADDR names them.
    constexpr uint32_t kWide = 7;  // pairs of weights up to here; PULL_MODEL (bit 3) has three
    uint32_t next = 0;
    for (uint32_t bit = 0; bit < 16; ++bit) {
      if ((o.stage.inputs >> bit & 1) == 0) continue;
      const uint32_t count = bit == 3 ? 3 : bit < kWide ? 2 : 1;
      if (variable >= next + count) {
        next += count;
        continue;
      }
      const bool second = variable != next;
      // One sample a pixel: its centre, its sample and the centroid are one place.
      if (bit < 3) return input(second ? StageInput::perspective_j : StageInput::perspective_i);
      if (bit >= 4 && bit < kWide) return input(second ? StageInput::linear_j : StageInput::linear_i);
      if (bit >= 8 && bit < 12) return input(static_cast<StageInput>(static_cast<uint32_t>(StageInput::x) + bit - 8));
      builder.refuse("reads pixel input " + std::to_string(bit) + " of SPI_PS_INPUT_ADDR");
      return number(0);
    }
    return undefined(Type::u32);
  }
  if (variable < kVarMask) {
    const uint32_t reg = variable - kVarNumber;
    if (reg == kExec || (reg == kExec + 1 && builder.wave64())) {
      return add(Op::ballot, Type::u32, {stage_initial(kVarMask + kExec)}, reg - kExec);
    }
    const uint32_t user = (o.rsrc2 >> 1) & 31, first = pixel ? 0 : kFirstUser;
    if (reg >= first && reg < first + user && reg - first < 16) return add(Op::user_data, Type::u32, {}, reg - first);
    // The primitives' mask, which m0 takes, says where parameters lie; here the module knows.
    if (pixel && reg == user) return number(0);
    if (!pixel && reg == 2) return load(group_base(), draw_memory::kGroupInfo);
    if (!pixel && reg == 3) return wave_info();
    if (!pixel && reg < kFirstUser) return number(0);
    return undefined(Type::u32);
  }
  if (variable < kVarScc) {
    if (variable != kVarMask + kExec) return derive(variable, 0);
    if (pixel) return add(Op::ine, Type::b1, {input(StageInput::covered), number(0)});
    // As on hardware, lanes that have a vertex; programs that handle both set the mask themselves.
    const Value vertices = add(Op::iand, Type::u32, {wave_info(), number(0xff)});
    return add(Op::ult, Type::b1, {add(Op::lane_id, Type::u32, {}), vertices});
  }
  if (variable >= kVarRoute) return number(0);
  return undefined(variable == kVarScc ? Type::b1 : Type::u32);
}

}  // namespace orrery::shader::ir
