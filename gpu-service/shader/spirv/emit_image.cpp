// Accesses to images: calls of the image library's functions.
#include <cstddef>

#include "gpu-service/shader/descriptor_constants.hpp"
#include "gpu-service/shader/spirv/conditional.hpp"
#include "gpu-service/shader/spirv/image_library.hpp"

namespace orrery::shader::spirv {

using ir::ImageWork;
using ir::Op;
using ir::Type;

namespace {

const char* function_of(ImageWork work) {
  switch (work) {
    case ImageWork::load:
      return "image_load";
    case ImageWork::store:
      return "image_store";
    case ImageWork::place:
      return "image_place";
    case ImageWork::info:
      return "image_info";
    case ImageWork::sample:
      break;
  }
  return "image_sample";
}

}  // namespace

// The words of descriptors that say what is done, and not where: what preparation gave, where it gave the module its
// descriptors; else what the program has.
Id Emitter::descriptor_word(const ir::Access& a, size_t n, Id own) {
  const DescriptorConstants constants(f_.images.size(), f_.samplers.size());
  std::optional<uint32_t> number;
  if (n < 8 && a.binding != 0) number = constants.of_image(a.binding - 1, static_cast<uint32_t>(n));
  if (n >= 8 && a.sampler != 0) number = constants.of_sampler(a.sampler - 1, static_cast<uint32_t>(n - 8));
  if (!number) return own;
  return select(uint_type(), module_.specialized(0, Type::b1), module_.specialized(*number, Type::u32), own);
}

void Emitter::emit_image(uint32_t inst, const ir::Inst& i, const ir::Access& a, uint32_t slot) {
  uses_page_table_ = true;
  if (!image_library_) image_library_ = std::make_unique<ImageLibrary>(*this);
  const auto args = f_.args(i);
  const Id lanes = f_.at(args[0]).op == Op::constant ? 0 : id(args[0], slot);
  const Id four = module_.vector(uint_type(), 4);
  const uint32_t count = i.op == Op::store ? 0 : components(i);
  const Id type = i.op == Op::store ? module_.void_type() : count == 4 ? four : module_.type(i.type);
  const Id target = image_library_->function(function_of(a.image));
  const auto call = [&]() -> Results {
    Words words = {type, module_.new_id(), target};
    const size_t descriptors = a.image == ImageWork::sample ? 12 : 8;
    for (size_t n = 0; n + 1 < args.size(); ++n) {
      // The library reads the format from the eighth word; nothing else is there that it wants.
      const Id own = id(args[1 + (n == 7 ? 1 : n)], slot);
      words.push_back(n < descriptors ? descriptor_word(a, n, own) : own);
    }
    words.push_back(u32(a.image_flags));
    words.push_back(u32(a.instruction * 2 + (i.op == Op::store ? 1 : 0)));
    put(*code_, spv::OpFunctionCall, {}, words);
    Results results{words[1]};
    for (uint32_t n = 0; count == 4 && n < count; ++n) {
      results[n] = value(spv::OpCompositeExtract, uint_type(), {words[1], n});
    }
    return results;
  };
  if (i.op == Op::store) {
    conditional(lanes, 0, 0, call);
  } else {
    finish_load(inst, i, slot, conditional(lanes, module_.type(i.type), count, call));
  }
}

Id Emitter::image_note() {
  if (!image_note_) {
    image_note_ = module_.variable(spv::StorageClassPrivate, uint_type());
    in_prelude([&] {
      code(spv::OpStore, {image_note_, u32(0)});
      return image_note_;
    });
  }
  return image_note_;
}

void Emitter::report_images() {
  const Id note = value(spv::OpLoad, uint_type(), {image_note()});
  const Id any = value(spv::OpINotEqual, bool_type(), {note, u32(0)});
  conditional(any, 0, 0, [&]() -> Results {
    const Id at = value(spv::OpIAdd, module_.type(Type::u64),
                        {push(kEscapes), module_.u64(offsetof(EscapeReport, image_refusal))});
    value(spv::OpAtomicUMax, uint_type(), {device_pointer(at, uint_type()), u32(spv::ScopeDevice), u32(0), note});
    return {};
  });
}

}  // namespace orrery::shader::spirv
