#include "gpu-service/shader/spirv/module.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace orrery::shader::spirv {
namespace {

uint32_t word(spv::Capability c) { return static_cast<uint32_t>(c); }

// A literal string: zero-terminated, filled up to whole words.
Words text(std::string_view name) {
  Words words(name.size() / 4 + 1);
  std::memcpy(words.data(), name.data(), name.size());
  return words;
}

}  // namespace

Module::Module() {
  types_.reserve(512);
  capability(spv::CapabilityShader);
}

void Module::capability(spv::Capability c) {
  if (std::ranges::find(declared_, word(c)) != declared_.end()) return;
  declared_.push_back(word(c));
  put(capabilities_, spv::OpCapability, {word(c)});
  if (c == spv::CapabilityPhysicalStorageBufferAddresses) physical_addresses_ = true;
  if (c == spv::CapabilityWorkgroupMemoryExplicitLayoutKHR) explicit_workgroup_ = true;
}

void Module::decorate(Id target, spv::Decoration d, std::initializer_list<uint32_t> operands) {
  put(decorations_, spv::OpDecorate, {target, static_cast<uint32_t>(d)}, {operands.begin(), operands.size()});
}

void Module::member_decorate(Id type, uint32_t member, spv::Decoration d, std::initializer_list<uint32_t> operands) {
  put(decorations_, spv::OpMemberDecorate, {type, member, static_cast<uint32_t>(d)},
      {operands.begin(), operands.size()});
}

Id Module::integer(uint32_t bits) {
  const uint32_t slot = bits == 8    ? 8u
                        : bits == 16 ? static_cast<uint32_t>(ir::Type::u16)
                        : bits == 32 ? static_cast<uint32_t>(ir::Type::u32)
                                     : static_cast<uint32_t>(ir::Type::u64);
  Id& id = scalar_[slot];
  if (id) return id;
  if (bits == 8) capability(spv::CapabilityInt8);
  if (bits == 16) capability(spv::CapabilityInt16);
  if (bits == 64) capability(spv::CapabilityInt64);
  id = new_id();
  put(types_, spv::OpTypeInt, {id, bits, 0});
  return id;
}

Id Module::type(ir::Type t) {
  Id& id = scalar_[static_cast<size_t>(t)];
  if (id) return id;
  switch (t) {
    case ir::Type::none:
      return void_type();
    case ir::Type::b1:
      id = new_id();
      put(types_, spv::OpTypeBool, {id});
      return id;
    case ir::Type::u16:
    case ir::Type::u32:
    case ir::Type::u64:
      return integer(ir::bits_of(t));
    case ir::Type::f16:
      capability(spv::CapabilityFloat16);
      break;
    case ir::Type::f64:
      capability(spv::CapabilityFloat64);
      break;
    case ir::Type::f32:
      break;
  }
  id = new_id();
  put(types_, spv::OpTypeFloat, {id, ir::bits_of(t)});
  return id;
}

Id Module::void_type() {
  if (!void_) {
    void_ = new_id();
    put(types_, spv::OpTypeVoid, {void_});
  }
  return void_;
}

Id Module::vector(Id component, uint32_t count) {
  Id& id = derived_[(1ull << 60) | (static_cast<uint64_t>(component) << 8) | count];
  if (!id) {
    id = new_id();
    put(types_, spv::OpTypeVector, {id, component, count});
  }
  return id;
}

Id Module::pointer(spv::StorageClass storage, Id to) {
  Id& id = derived_[(2ull << 60) | (static_cast<uint64_t>(to) << 16) | static_cast<uint64_t>(storage)];
  if (!id) {
    id = new_id();
    put(types_, spv::OpTypePointer, {id, static_cast<uint32_t>(storage), to});
  }
  return id;
}

Id Module::array(Id element, uint32_t count) {
  const Id length = u32(count);
  Id& id = derived_[(3ull << 60) | (static_cast<uint64_t>(element) << 32) | count];
  if (!id) {
    id = new_id();
    put(types_, spv::OpTypeArray, {id, element, length});
  }
  return id;
}

Id Module::laid_out_array(Id element, uint32_t count, uint32_t stride) {
  const Id length = u32(count), id = new_id();
  put(types_, spv::OpTypeArray, {id, element, length});
  decorate(id, spv::DecorationArrayStride, {stride});
  return id;
}

Id Module::structure(std::initializer_list<Id> members) {
  const Id id = new_id();
  put(types_, spv::OpTypeStruct, {id}, {members.begin(), members.size()});
  return id;
}

Id Module::pair_type() {
  if (!pair_) pair_ = structure({type(ir::Type::u32), type(ir::Type::u32)});
  return pair_;
}

Id Module::runtime_array(Id element) {
  const Id id = new_id();
  put(types_, spv::OpTypeRuntimeArray, {id, element});
  return id;
}

Id Module::function_type(Id result, std::span<const Id> parameters) {
  std::vector<Id> key{result};
  key.insert(key.end(), parameters.begin(), parameters.end());
  for (const auto& [k, id] : function_types_)
    if (k == key) return id;
  const Id id = new_id();
  put(types_, spv::OpTypeFunction, {id}, key);
  function_types_.emplace_back(std::move(key), id);
  return id;
}

Id Module::constant(ir::Type t, uint64_t bits) {
  Id& id = ir::bits_of(t) == 64 ? wide_constants_[t == ir::Type::f64][bits]
                                : constants_[(static_cast<uint64_t>(t) << 33) | bits];
  if (id) return id;
  const Id type_id = type(t);
  id = new_id();
  if (t == ir::Type::b1) {
    put(types_, bits ? spv::OpConstantTrue : spv::OpConstantFalse, {type_id, id});
  } else if (ir::bits_of(t) == 64) {
    put(types_, spv::OpConstant, {type_id, id, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
  } else {
    put(types_, spv::OpConstant, {type_id, id, static_cast<uint32_t>(bits)});
  }
  return id;
}

Id Module::specialized(uint32_t number, ir::Type t) {
  Id& id = specialized_[number];
  if (id) return id;
  const Id type_id = type(t);
  id = new_id();
  if (t == ir::Type::b1) {
    put(types_, spv::OpSpecConstantFalse, {type_id, id});
  } else {
    put(types_, spv::OpSpecConstant, {type_id, id, 0});
  }
  decorate(id, spv::DecorationSpecId, {number});
  return id;
}

Id Module::null(Id type) {
  Id& id = derived_[(4ull << 60) | type];
  if (!id) {
    id = new_id();
    put(types_, spv::OpConstantNull, {type, id});
  }
  return id;
}

Id Module::variable(spv::StorageClass storage, Id pointed) {
  const Id type = pointer(storage, pointed);
  const Id id = new_id();
  put(types_, spv::OpVariable, {type, id, static_cast<uint32_t>(storage)});
  interface_.push_back(id);
  return id;
}

Id Module::built_in(spv::BuiltIn which, Id type) {
  Id& id = built_ins_[static_cast<uint32_t>(which)];
  if (!id) {
    id = variable(spv::StorageClassInput, type);
    decorate(id, spv::DecorationBuiltIn, {static_cast<uint32_t>(which)});
  }
  return id;
}

Id Module::glsl() {
  if (!glsl_) glsl_ = new_id();
  return glsl_;
}

// A driver may otherwise flush denormals, and NVIDIA's does for 32 bits.
void Module::demand_float_modes(Id main) {
  for (const ir::Type type : {ir::Type::f16, ir::Type::f32, ir::Type::f64}) {
    const uint32_t width = ir::bits_of(type);
    if (!scalar_[static_cast<size_t>(type)]) continue;
    if (denormals_of_ & width) {
      capability(spv::CapabilityDenormPreserve);
      put(modes_, spv::OpExecutionMode, {main, static_cast<uint32_t>(spv::ExecutionModeDenormPreserve), width});
    }
    if (special_of_ & width) {
      capability(spv::CapabilitySignedZeroInfNanPreserve);
      put(modes_, spv::OpExecutionMode,
          {main, static_cast<uint32_t>(spv::ExecutionModeSignedZeroInfNanPreserve), width});
    }
  }
}

Words Module::assemble(Id main, std::array<uint32_t, 3> local_size, const Words& functions) {
  demand_float_modes(main);
  if (!exact_.empty()) {
    const Id group = new_id();
    decorate(group, spv::DecorationNoContraction);
    put(decorations_, spv::OpDecorationGroup, {group});
    constexpr size_t kMostTargets = 65000;  // an instruction has at most 65,535 words
    for (size_t at = 0; at < exact_.size(); at += kMostTargets) {
      put(decorations_, spv::OpGroupDecorate, {group},
          std::span(exact_).subspan(at, std::min(kMostTargets, exact_.size() - at)));
    }
  }
  Words out;
  out.reserve(functions.size() + types_.size() + decorations_.size() + 128);
  out.insert(out.end(), {spv::MagicNumber, 0x00010500u, 0u, next_, 0u});
  out.insert(out.end(), capabilities_.begin(), capabilities_.end());
  if (explicit_workgroup_) put(out, spv::OpExtension, {}, text("SPV_KHR_workgroup_memory_explicit_layout"));
  if (glsl_) {
    constexpr std::array<uint32_t, 4> kName = {0x4C534C47, 0x6474732E, 0x3035342E, 0};  // "GLSL.std.450"
    put(out, spv::OpExtInstImport, {glsl_}, kName);
  }
  put(out, spv::OpMemoryModel,
      {static_cast<uint32_t>(physical_addresses_ ? spv::AddressingModelPhysicalStorageBuffer64
                                                 : spv::AddressingModelLogical),
       static_cast<uint32_t>(spv::MemoryModelGLSL450)});
  const auto model = fragment_ ? spv::ExecutionModelFragment : spv::ExecutionModelGLCompute;
  put(out, spv::OpEntryPoint, {static_cast<uint32_t>(model), main, 0x6E69616D, 0}, interface_);
  if (fragment_) {
    put(out, spv::OpExecutionMode, {main, static_cast<uint32_t>(spv::ExecutionModeOriginUpperLeft)});
  } else {
    put(out, spv::OpExecutionMode,
        {main, static_cast<uint32_t>(spv::ExecutionModeLocalSize), local_size[0], local_size[1], local_size[2]});
  }
  out.insert(out.end(), modes_.begin(), modes_.end());
  out.insert(out.end(), decorations_.begin(), decorations_.end());
  out.insert(out.end(), types_.begin(), types_.end());
  out.insert(out.end(), functions.begin(), functions.end());
  return out;
}

}  // namespace orrery::shader::spirv
