#include "gpu-service/shader/spirv/image_library.hpp"

#include <algorithm>
#include <stdexcept>

namespace orrery::shader::spirv {
namespace {

constexpr uint32_t kWords[] = {
#include "image_library.inc"
};

// Where things are in kWords; made once.
struct Contents {
  struct Range {
    uint32_t begin = 0, end = 0;
  };
  uint32_t bound = kWords[3];
  std::vector<uint32_t> definition;  // of a type or constant: its first word, 0: none
  std::vector<Range> function;
  std::vector<std::pair<std::string_view, Id>> names;
  Id extended = 0;

  Contents() : definition(bound), function(bound) {
    Id open = 0;
    for (uint32_t at = 5; at < std::size(kWords); at += kWords[at] >> 16) {
      const auto op = static_cast<spv::Op>(kWords[at] & 0xffff);
      const uint32_t end = at + (kWords[at] >> 16);
      if (op == spv::OpName) {
        // The name goes on to its parameters: image_load(u1;u1;
        const std::string_view name(reinterpret_cast<const char*>(&kWords[at + 2]));
        if (const size_t length = name.find('('); length != name.npos)
          names.emplace_back(name.substr(0, length), kWords[at + 1]);
      } else if (op == spv::OpExtInstImport) {
        extended = kWords[at + 1];
      } else if (op == spv::OpFunction) {
        open = kWords[at + 2];
        function[open].begin = at;
      } else if (op == spv::OpFunctionEnd) {
        function[open].end = end;
        open = 0;
      } else if (open == 0 && op >= spv::OpTypeVoid && op <= spv::OpTypeFunction) {
        definition[kWords[at + 1]] = at;
      } else if (open == 0 && op >= spv::OpConstantTrue && op <= spv::OpConstantNull) {
        definition[kWords[at + 2]] = at;
      }
    }
  }
  std::string_view name_of(Id id) const {
    for (const auto& [name, of] : names)
      if (of == id) return name;
    return {};
  }
};

const Contents& contents() {
  static const Contents instance;
  return instance;
}

std::span<const uint32_t> words_at(uint32_t at) { return std::span(kWords).subspan(at, kWords[at] >> 16); }

// Whether word n of an instruction is an id; where nothing is said, all behind the first are.
bool is_id(spv::Op op, uint32_t n) {
  switch (op) {
    case spv::OpFunction:
      return n != 3;
    case spv::OpVariable:
    case spv::OpLoad:
    case spv::OpCompositeExtract:
      return n <= (op == spv::OpVariable ? 2u : 3u);
    case spv::OpStore:
      return n <= 2;
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
      return n <= 4;
    case spv::OpExtInst:
      return n != 4;
    case spv::OpSelectionMerge:
      return n <= 1;
    case spv::OpLoopMerge:
      return n <= 2;
    case spv::OpBranchConditional:
      return n <= 3;
    case spv::OpSwitch:
      return n <= 2 || n % 2 == 0;
    default:
      return true;
  }
}

bool rounds(spv::Op op) {
  switch (op) {
    case spv::OpFAdd:
    case spv::OpFSub:
    case spv::OpFMul:
    case spv::OpFDiv:
    case spv::OpVectorTimesScalar:
      return true;
    default:
      return false;
  }
}

}  // namespace

ImageLibrary::ImageLibrary(Emitter& emitter) : e(emitter), m(emitter.module_), ours_(contents().bound) {}

Id ImageLibrary::function(std::string_view name) {
  for (const auto& [known, id] : contents().names) {
    if (known != name) continue;
    const Id ours = function(id);
    while (!open_.empty()) {
      const Id next = open_.back();
      open_.pop_back();
      copy_function(next);
    }
    return ours;
  }
  throw std::logic_error("the image library has no function " + std::string(name));
}

Id ImageLibrary::function(Id theirs) {
  Id& ours = ours_[theirs];
  if (ours) return ours;
  if (const Id here = provided(contents().name_of(theirs))) return ours = here;
  open_.push_back(theirs);
  return ours = m.new_id();
}

Id ImageLibrary::mapped(Id theirs) {
  const Contents& c = contents();
  if (theirs == c.extended) return m.glsl();
  if (c.function[theirs].begin != 0) return function(theirs);
  if (c.definition[theirs] != 0) return type_or_constant(theirs);
  Id& ours = ours_[theirs];
  if (!ours) ours = m.new_id();
  return ours;
}

void ImageLibrary::copy_function(Id theirs) {
  const Contents::Range range = contents().function[theirs];
  Words own;
  own.reserve(range.end - range.begin);
  for (uint32_t at = range.begin; at < range.end; at += kWords[at] >> 16) {
    const auto words = words_at(at);
    const auto op = static_cast<spv::Op>(words[0] & 0xffff);
    const size_t begin = own.size();
    own.push_back(words[0]);
    for (uint32_t n = 1; n < words.size(); ++n) own.push_back(is_id(op, n) ? mapped(words[n]) : words[n]);
    if (rounds(op)) m.exact(own[begin + 2]);
  }
  e.routines_.insert(e.routines_.end(), own.begin(), own.end());
}

Id ImageLibrary::type_or_constant(Id theirs) {
  if (ours_[theirs]) return ours_[theirs];
  const auto words = words_at(contents().definition[theirs]);
  const auto op = static_cast<spv::Op>(words[0] & 0xffff);
  const Id made = op <= spv::OpTypeFunction ? type(words) : constant(words);
  return ours_[theirs] = made;
}

Id ImageLibrary::type(std::span<const uint32_t> words) {
  std::vector<Id> members;
  switch (static_cast<spv::Op>(words[0] & 0xffff)) {
    case spv::OpTypeVoid:
      return m.void_type();
    case spv::OpTypeBool:
      return m.type(ir::Type::b1);
    case spv::OpTypeFloat:
      return m.type(ir::Type::f32);
    case spv::OpTypeInt: {
      if (words[3] == 0) return m.integer(words[2]);
      const Id id = m.new_id();
      put(m.types(), spv::OpTypeInt, {id, words[2], 1});
      return id;
    }
    case spv::OpTypeVector:
      return m.vector(mapped(words[2]), words[3]);
    case spv::OpTypeArray:
      return m.array(mapped(words[2]), words_at(contents().definition[words[3]])[3]);
    case spv::OpTypePointer:
      return m.pointer(static_cast<spv::StorageClass>(words[2]), mapped(words[3]));
    case spv::OpTypeStruct: {
      for (const Id member : words.subspan(2)) members.push_back(mapped(member));
      const Id id = m.new_id();
      put(m.types(), spv::OpTypeStruct, {id}, members);
      return id;
    }
    case spv::OpTypeFunction:
      for (const Id parameter : words.subspan(3)) members.push_back(mapped(parameter));
      return m.function_type(mapped(words[2]), members);
    default:
      throw std::logic_error("a type of the image library that is not copied");
  }
}

Id ImageLibrary::constant(std::span<const uint32_t> words) {
  const Id theirs = words[1], type_id = mapped(theirs);
  const auto of = words_at(contents().definition[theirs]);
  switch (static_cast<spv::Op>(words[0] & 0xffff)) {
    case spv::OpConstantTrue:
      return m.constant(ir::Type::b1, 1);
    case spv::OpConstantFalse:
      return m.constant(ir::Type::b1, 0);
    case spv::OpConstantNull:
      return m.null(type_id);
    case spv::OpConstantComposite: {
      std::vector<Id> members;
      for (const Id member : words.subspan(3)) members.push_back(mapped(member));
      const Id id = m.new_id();
      put(m.types(), spv::OpConstantComposite, {type_id, id}, members);
      return id;
    }
    case spv::OpConstant: {
      if (static_cast<spv::Op>(of[0] & 0xffff) == spv::OpTypeFloat) return m.constant(ir::Type::f32, words[3]);
      if (of[3] == 0) {
        if (of[2] == 64) return m.u64(words[3] | static_cast<uint64_t>(words[4]) << 32);
        return m.u32(words[3]);
      }
      const Id id = m.new_id();
      put(m.types(), spv::OpConstant, {type_id, id}, words.subspan(3));
      return id;
    }
    default:
      throw std::logic_error("a constant of the image library that is not copied");
  }
}

}  // namespace orrery::shader::spirv
