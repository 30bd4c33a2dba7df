// MIMG in compute. What a T# and S# say is found where the program runs, so descriptors may come from anywhere; what
// they ask beyond what is done is noted there (shader/image). Here: which registers hold what.
#include <bit>

#include "gpu-service/shader/decode/image_form.hpp"
#include "gpu-service/shader/image/flags.hpp"
#include "gpu-service/shader/semantics/descriptor_trace.hpp"
#include "gpu-service/shader/semantics/memory_families.hpp"
#include "gpu-service/shader/semantics/memory_shape.hpp"
#include "gpu-service/shader/semantics/small_float.hpp"

namespace orrery::shader::semantics {
namespace {

using ir::Access;
using ir::ImageWork;
using ir::Space;
using Kind = ImageForm::Kind;
using namespace image_flags;

Value integer(Builder& b, const std::optional<ImageComponent>& at) {
  if (!at) return b.u32(0);
  const Value v = b.vgpr(at->vgpr);
  switch (at->part) {
    case ImageComponent::Part::low:
      return b.land(v, b.u32(0xffff));
    case ImageComponent::Part::high:
      return b.lshr(v, b.u32(16));
    case ImageComponent::Part::whole:
      break;
  }
  return v;
}
Value real(Builder& b, const std::optional<ImageComponent>& at) {
  const Value bits = integer(b, at);
  return !at || at->part == ImageComponent::Part::whole ? bits : half_to_float_bits(b, bits);
}

// An access' arguments from the T# on.
std::vector<Value> descriptor_of(Builder& b, const Instruction& i) {
  std::vector<Value> words;
  for (uint32_t n = 0; n < 8; ++n) {
    words.push_back(i.r128 && n >= 4 ? b.u32(0) : b.sgpr((i.resource.index + n) & 127u));
  }
  return words;
}
std::vector<Value> texel_of(Builder& b, const Instruction& i, const ImageForm& form) {
  std::vector<Value> words = descriptor_of(b, i);
  for (const auto& coordinate : form.coordinates) words.push_back(integer(b, coordinate));
  words.push_back(integer(b, form.level));
  return words;
}

// `words` begin with the T#.
Access access_of(Builder& b, const Instruction& i, std::span<const Value> words, ImageWork work, uint32_t flags) {
  const auto source = trace_image(b, words.first<8>());
  if (!source) b.note_computed(i.offset, source.error());
  return {.space = Space::image,
          .components = 4,
          .coherent = i.glc || i.dlc || i.slc,
          .binding = source ? b.image(*source) + 1 : 0,
          .instruction = i.offset,
          .image = work,
          .image_flags = flags};
}

// Results under DMASK, and the status behind them: everything is resident. Halves fill registers from the low end.
void write_results(Builder& b, const Instruction& i, const std::array<Value, 4>& results, bool all_four) {
  std::array<Value, 4> chosen{b.u32(0)};
  uint32_t count = 0;
  for (uint32_t n = 0; n < 4; ++n) {
    if (all_four || (i.dmask >> n & 1) != 0) chosen[count++] = results[n];
  }
  count = std::max(count, 1u);
  const auto reg = [&](uint32_t n) { return (i.destination.index + n) & 255u; };
  for (uint32_t n = 0; n < count; ++n) {
    if (!i.d16) {
      b.set_vgpr(reg(n), chosen[n]);
    } else if (n % 2 == 0) {
      const Value high =
          n + 1 < count ? b.shl(chosen[n + 1], b.u32(16)) : b.land(b.vgpr(reg(n / 2)), b.u32(0xffff0000));
      b.set_vgpr(reg(n / 2), b.lor(chosen[n], high));
    }
  }
  if (i.tfe) b.set_vgpr(reg(i.d16 ? (count + 1) / 2 : count), b.u32(0));
}

Outcome load(Builder& b, const Instruction& i, const ImageForm& form) {
  const uint32_t flags = (form.packed ? kPacked : 0) | (form.sign_extend ? kSignExtend : 0) | (i.d16 ? kHalves : 0);
  const auto words = texel_of(b, i, form);
  write_results(b, i, b.load(access_of(b, i, words, ImageWork::load, flags), b.exec(), words), false);
  return {};
}

Outcome store(Builder& b, const Instruction& i, const ImageForm& form) {
  if (i.tfe) return refuse("TFE of a store");
  std::array<Value, 4> data;
  uint32_t count = 0;
  for (uint32_t n = 0; n < 4; ++n) {
    data[n] = b.u32(0);
    if ((i.dmask >> n & 1) == 0) continue;
    const uint32_t at = count++;
    data[n] = b.vgpr((i.data.index + (i.d16 ? at / 2 : at)) & 255u);
    if (i.d16) data[n] = at % 2 == 0 ? b.land(data[n], b.u32(0xffff)) : b.lshr(data[n], b.u32(16));
  }
  const uint32_t flags = (form.packed ? kPacked : 0) | (i.d16 ? kHalves : 0);
  const auto words = texel_of(b, i, form);
  b.store(access_of(b, i, words, ImageWork::store, flags), b.exec(), words, data);
  return {};
}

// The library says where the element is; the atomic is one on guest memory.
Outcome atomic(Builder& b, const Instruction& i, const ImageForm& form) {
  MemoryShape shape = memory_shape(i.opcode);
  if (shape.kind != MemoryShape::Kind::atomic) return refuse("no semantics");
  shape.bytes = image_atomic_is_wide(i) ? 8 : 4;
  const auto words = texel_of(b, i, form);
  Access access = access_of(b, i, words, ImageWork::place, shape.bytes);
  access.components = 1;
  access.bytes = 8;
  const Value address = b.load(access, b.exec(), words)[0];
  const Value lanes = b.land(b.exec(), b.compare(Op::ine, address, b.u64(0)));
  const Place place{.space = Space::guest, .lanes = lanes, .address = address, .binding = access.binding};
  move_memory(b, i, shape, std::span(&place, 1));
  return {};
}

Outcome info(Builder& b, const Instruction& i, const ImageForm& form) {
  std::vector<Value> words = descriptor_of(b, i);
  words.push_back(integer(b, form.level));
  auto results = b.load(access_of(b, i, words, ImageWork::info, 0), b.exec(), words);
  for (Value& v : results) v = i.d16 ? b.land(v, b.u32(0xffff)) : v;
  write_results(b, i, results, false);
  return {};
}

uint32_t sample_flags(const Instruction& i, const ImageForm& form) {
  uint32_t flags = 0;
  if (form.kind == Kind::gather) {
    const auto component = i.dmask == 0 ? 0u : static_cast<uint32_t>(std::countr_zero(i.dmask));
    flags |= kGathers | (component & 3) << kComponentShift;
  }
  if (form.compare) flags |= kCompares;
  if (form.zero_level) flags |= kZeroLevel;
  if (form.implicit_level) flags |= kImplicitLevel;
  if (form.gradient_count != 0) flags |= kHasGradients | (form.gradient_count / 2u) << kGradientsShift;
  if (form.clamp) flags |= kHasClamp;
  if (i.unorm) flags |= kUnnormalised;
  if (i.d16) flags |= kHalves;
  return flags;
}

Outcome sample(Builder& b, const Instruction& i, const ImageForm& form) {
  std::vector<Value> words = descriptor_of(b, i);
  std::array<Value, 4> sampler;
  for (uint32_t n = 0; n < 4; ++n) words.push_back(sampler[n] = b.sgpr((i.sampler.index + n) & 127u));
  for (const auto& coordinate : form.coordinates) words.push_back(real(b, coordinate));
  words.push_back(integer(b, form.offset));
  for (const auto& component : {form.compare, form.level, form.clamp}) words.push_back(real(b, component));
  const uint32_t dimensions = form.gradient_count / 2u;
  for (uint32_t n = 0; n < 6; ++n) {
    const uint32_t direction = n / 3, dimension = n % 3;
    words.push_back(dimension < dimensions ? real(b, form.gradients[direction * dimensions + dimension]) : b.u32(0));
  }
  Access access = access_of(b, i, words, ImageWork::sample, sample_flags(i, form));
  if (const auto source = trace_descriptor(b, sampler)) access.sampler = b.sampler(*source) + 1;
  const auto results = b.load(access, b.exec(), words);
  write_results(b, i, results, form.kind == Kind::gather);
  return {};
}

Outcome image(Builder& b, const Instruction& i) {
  const ImageForm form = image_form(i);
  const std::string_view name = mnemonic(i.opcode);
  if (name.starts_with("image_bvh")) return refuse("ray tracing");
  if (form.kind == Kind::level) return refuse("level of detail from derivatives");
  if (form.kind == Kind::other) return refuse("no semantics");
  if (i.dim >= 6) return refuse("multisampled images");
  if (i.lwe) return refuse("LWE");
  switch (form.kind) {
    case Kind::load:
      return load(b, i, form);
    case Kind::store:
      return store(b, i, form);
    case Kind::atomic:
      return atomic(b, i, form);
    case Kind::info:
      return info(b, i, form);
    default:
      return sample(b, i, form);
  }
}

}  // namespace

void add_image(ir::SemanticTable& table) {
  for (size_t n = 0; n < table.size(); ++n) {
    if (mnemonic(static_cast<Opcode>(n)).starts_with("image_")) table[n] = image;
  }
}

}  // namespace orrery::shader::semantics
