// MIMG in compute: loads, stores, atomics, queries, and samples of an explicit level. What a descriptor asks that is
// not done stops the run with its name.
#include <fmt/format.h>

#include "gpu-service/shader/decode/image_form.hpp"
#include "gpu-service/shader/interpret/image_sample.hpp"
#include "gpu-service/shader/interpret/memory_access.hpp"
#include "gpu-service/shader/interpret/typed_registers.hpp"

namespace orrery::shader::interpret {
namespace {

using u32 = uint32_t;
using Kind = ImageForm::Kind;
using Type = ImageDescriptor::Type;

ImageDescriptor image_of(const Wave& wave, const Instruction& instruction) {
  return ImageDescriptor::read(std::span(wave.sgpr).subspan(instruction.resource.index, instruction.r128 ? 4 : 8));
}

bool refused(Wave& wave, const Step& step, ImageRefusal reason, const ImageDescriptor& image) {
  if (reason == ImageRefusal::none) return false;
  wave.refuse(step, fmt::format("{} (T# {:08x})", describe(reason), fmt::join(image.words, " ")));
  return true;
}

u32 integer(Wave& wave, const std::optional<ImageComponent>& at, u32 lane) {
  if (!at) return 0;
  const u32 value = wave.row(at->vgpr)[lane];
  switch (at->part) {
    case ImageComponent::Part::whole:
      return value;
    case ImageComponent::Part::low:
      return value & 0xffff;
    case ImageComponent::Part::high:
      return value >> 16;
  }
  return 0;
}
float real(Wave& wave, const std::optional<ImageComponent>& at, u32 lane) {
  const u32 bits = integer(wave, at, lane);
  return !at || at->part == ImageComponent::Part::whole ? std::bit_cast<float>(bits)
                                                        : half_to_float(static_cast<uint16_t>(bits));
}

// Where a load, store or atomic goes; nothing: out of the image.
std::optional<uint64_t> place(Wave& wave, const ImageForm& form, const ImageDescriptor& image, u32 lane) {
  const u32 level = image.base_level + std::min(integer(wave, form.level, lane), 16u);
  const u32 x = integer(wave, form.coordinates[0], lane);
  const u32 y = image.has_rows() ? integer(wave, form.coordinates[1], lane) : 0;
  const u32 z = image.is_array() || image.is(Type::d3) ? integer(wave, form.coordinates[2], lane) : 0;
  if (level > std::max(image.base_level, std::min(image.last_level, image.max_mip))) return std::nullopt;
  if (x >= image.level_width(level) || y >= image.level_height(level)) return std::nullopt;
  const uint64_t slice = uint64_t{z} + image.first_layer;
  if (image.is(Type::d3) && z >= image.level_depth(level)) return std::nullopt;
  if (image.is_array() && slice > image.depth_field) return std::nullopt;
  return image.address(level, x, y, static_cast<u32>(slice));
}

// Results under DMASK, and the status behind them: everything is resident.
void write_results(Wave& wave, const Instruction& instruction, u32 lane, const std::array<u32, 4>& results,
                   bool all_four, Numeric numeric) {
  std::array<u32, 4> chosen{};
  unsigned count = 0;
  for (unsigned n = 0; n < 4; ++n) {
    if (all_four || (instruction.dmask >> n & 1) != 0) chosen[count++] = results[n];
  }
  count = std::max(count, 1u);
  write_components(wave, instruction.destination.index, lane, std::span(chosen).first(count), instruction.d16, numeric);
  if (instruction.tfe) {
    const u32 registers = instruction.d16 ? (count + 1) / 2 : count;
    wave.row(instruction.destination.index + registers)[lane] = 0;
  }
}

template <class PerLane>
void each_lane(Wave& wave, PerLane per_lane) {
  const uint64_t exec = wave.exec();
  for (u32 lane = 0; lane < wave.lanes; ++lane) {
    if (active(exec, lane)) per_lane(lane);
  }
}

std::array<u32, 4> load_element(Wave& wave, const Step& step, const ImageDescriptor& image, uint64_t address) {
  std::array<u32, 4> memory{};
  wave.load(step, address, std::as_writable_bytes(std::span(memory)).first(image.layout->bytes()));
  return memory;
}

void image_load(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const ImageForm form = image_form(instruction);
  const auto image = image_of(wave, instruction);
  if (refused(wave, step, image.refusal(), image)) return;
  each_lane(wave, [&](u32 lane) {
    const auto at = place(wave, form, image, lane);
    std::array<u32, 4> results{};
    if (at) {
      results = load_element(wave, step, image, *at);
      if (!form.packed) {
        results = select(*image.layout, unpack(*image.layout, results), image.select);
      } else if (form.sign_extend && image.layout->bytes() < 4) {
        const unsigned shift = 32 - 8 * image.layout->bytes();
        results[0] = static_cast<u32>(static_cast<int32_t>(results[0] << shift) >> shift);
      }
    }
    write_results(wave, instruction, lane, results, false, image.layout->numeric);
  });
}

void image_store(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const ImageForm form = image_form(instruction);
  const auto image = image_of(wave, instruction);
  if (refused(wave, step, image.refusal(), image)) return;
  each_lane(wave, [&](u32 lane) {
    const auto at = place(wave, form, image, lane);
    if (!at) return;
    const auto given =
        read_components(wave, instruction.data.index, lane, static_cast<unsigned>(std::popcount(instruction.dmask)),
                        instruction.d16, image.layout->numeric);
    std::array<u32, 4> values{};
    unsigned count = 0;
    for (unsigned n = 0; n < 4; ++n) values[n] = (instruction.dmask >> n & 1) != 0 ? given[count++] : 0;
    if (!form.packed) values = pack(*image.layout, unselect(values, image.select));
    wave.store(step, *at, std::as_bytes(std::span(values)).first(image.layout->bytes()));
  });
}

void image_atomic(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const ImageForm form = image_form(instruction);
  const auto image = image_of(wave, instruction);
  auto reason = image.refusal();
  if (reason == ImageRefusal::none && image.layout->bytes() != step.memory.bytes) reason = ImageRefusal::element_size;
  if (refused(wave, step, reason, image)) return;
  const u32 data = instruction.data.index;
  each_lane(wave, [&](u32 lane) {
    const auto at = place(wave, form, image, lane);
    uint64_t old = 0;
    if (at) {
      const uint64_t first = read_value(wave, data, lane, step.memory.bytes);
      const uint64_t second =
          step.memory.compares ? read_value(wave, data + step.memory.bytes / 4u, lane, step.memory.bytes) : 0;
      old = atomic_lane(step.memory, GuestSpace{wave, step}, *at, first, second);
    }
    if (step.has_destination) write_value(wave, instruction.destination.index, lane, step.memory.bytes, old);
  });
}

// Width, height, depth or layers, and how many levels the view has.
void image_info(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const ImageForm form = image_form(instruction);
  const auto image = image_of(wave, instruction);
  if (image.type < 8 || image.type > 13) {
    refused(wave, step, ImageRefusal::type, image);
    return;
  }
  const u32 levels = image.last_level - std::min(image.base_level, image.last_level) + 1;
  each_lane(wave, [&](u32 lane) {
    const u32 asked = integer(wave, form.level, lane);
    std::array<u32, 4> results{0, 0, 0, levels};
    if (asked < levels) {
      const u32 level = image.base_level + asked;
      results = {image.level_width(level), image.level_height(level),
                 image.is_array() ? image.depth_field - std::min(image.first_layer, image.depth_field) + 1
                                  : image.level_depth(level),
                 levels};
    }
    write_results(wave, instruction, lane, results, false, Numeric::uint);
  });
}

void image_sample(Wave& wave, const Step& step) {
  const Instruction& instruction = *step.instruction;
  const ImageForm form = image_form(instruction);
  const auto image = image_of(wave, instruction);
  const auto sampler = SamplerDescriptor::read(std::span(wave.sgpr).subspan(instruction.sampler.index, 4));
  const Sampling sampling{.image = image,
                          .sampler = sampler,
                          .form = form,
                          .unnormalised = instruction.unorm || sampler.unnormalised,
                          .dmask = instruction.dmask,
                          .load = [&](uint64_t address) { return load_element(wave, step, image, address); }};
  if (refused(wave, step, refusal(sampling), image)) return;
  each_lane(wave, [&](u32 lane) {
    SampleAddress address;
    for (unsigned n = 0; n < 3; ++n) address.coordinates[n] = real(wave, form.coordinates[n], lane);
    if (form.offset) {
      const u32 word = integer(wave, form.offset, lane);
      for (unsigned n = 0; n < 3; ++n) address.offset[n] = static_cast<int32_t>(word << (26 - 8 * n)) >> 26;
    }
    address.compare = real(wave, form.compare, lane);
    address.level = real(wave, form.level, lane);
    address.clamp = real(wave, form.clamp, lane);
    for (unsigned n = 0; n < form.gradient_count; ++n) address.gradients[n] = real(wave, form.gradients[n], lane);
    write_results(wave, instruction, lane, sample(sampling, address), form.kind == Kind::gather,
                  form.compare ? Numeric::floating : image.layout->numeric);
  });
}

}  // namespace

Handler image_handler(const Instruction& instruction) {
  const ImageForm form = image_form(instruction);
  if (instruction.dim >= 6 || instruction.lwe) return nullptr;
  switch (form.kind) {
    case Kind::load:
      return image_load;
    case Kind::store:
      return instruction.tfe ? nullptr : image_store;
    case Kind::atomic:
      return image_atomic_shape(instruction.opcode, image_atomic_is_wide(instruction)) ? image_atomic : nullptr;
    case Kind::info:
      return image_info;
    case Kind::sample:
    case Kind::gather:
      return image_sample;
    default:
      return nullptr;
  }
}

}  // namespace orrery::shader::interpret
