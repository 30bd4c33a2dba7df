// A SPIR-V module under construction: sections, ids, types and constants made once, capabilities declared when used.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu-service/shader/ir/value.hpp"

namespace orrery::shader::spirv {

using Id = uint32_t;
using Words = std::vector<uint32_t>;

inline void put(Words& out, spv::Op op, std::initializer_list<uint32_t> operands) {
  out.push_back(static_cast<uint32_t>((operands.size() + 1) << 16) | static_cast<uint32_t>(op));
  out.insert(out.end(), operands.begin(), operands.end());
}
inline void put(Words& out, spv::Op op, std::initializer_list<uint32_t> operands, std::span<const uint32_t> more) {
  out.push_back(static_cast<uint32_t>((operands.size() + more.size() + 1) << 16) | static_cast<uint32_t>(op));
  out.insert(out.end(), operands.begin(), operands.end());
  out.insert(out.end(), more.begin(), more.end());
}

class Module {
 public:
  Module();
  Id new_id() { return next_++; }
  Id new_ids(uint32_t count) { return std::exchange(next_, next_ + count); }

  void capability(spv::Capability c);
  void decorate(Id target, spv::Decoration d, std::initializer_list<uint32_t> operands = {});
  void member_decorate(Id type, uint32_t member, spv::Decoration d, std::initializer_list<uint32_t> operands = {});

  // NoContraction, a word for each target: one decoration group holds them all.
  Id exact(Id result) {
    exact_.push_back(result);
    return result;
  }

  // Types.
  Id type(ir::Type t);
  Id integer(uint32_t bits);  // unsigned
  Id vector(Id component, uint32_t count);
  Id pointer(spv::StorageClass storage, Id to);
  Id function_type(Id result, std::span<const Id> parameters);
  Id function_type(Id result, std::initializer_list<Id> parameters) {
    return function_type(result, std::span(parameters.begin(), parameters.size()));
  }
  Id void_type();
  Id array(Id element, uint32_t count);                            // without a stride
  Id laid_out_array(Id element, uint32_t count, uint32_t stride);  // a new one each time
  Id structure(std::initializer_list<Id> members);                 // a new one each time
  Id pair_type();                                                  // {u32, u32}, of extended multiplication
  Id runtime_array(Id element);                                    // a new one each time

  // Constants.
  Id constant(ir::Type t, uint64_t bits);
  Id u32(uint32_t v) { return constant(ir::Type::u32, v); }
  Id u64(uint64_t v) { return constant(ir::Type::u64, v); }
  Id null(Id type);
  Id specialized(uint32_t number, ir::Type t);  // a specialization constant, u32 or b1; 0 unless given

  // A module-scope variable, listed in the entry point's interface.
  Id variable(spv::StorageClass storage, Id pointed);
  Id built_in(spv::BuiltIn which, Id type);  // Input
  Id glsl();                                 // GLSL.std.450

  void make_fragment() { fragment_ = true; }  // instead of a compute program
  // All words; `functions` holds the function definitions, `main` is the entry point.
  Words assemble(Id main, std::array<uint32_t, 3> local_size, const Words& functions);

  Words& types() { return types_; }
  Words& execution_modes() { return modes_; }
  // Widths (16, 32, 64 or'ed) whose denormals, and whose signs of zeros, infinities and NaNs, the device can be told to
  // keep; the module demands it of the widths that it uses.
  void keep(uint32_t denormals_of, uint32_t special_of) {
    denormals_of_ = denormals_of;
    special_of_ = special_of;
  }

 private:
  Id next_ = 1, glsl_ = 0, void_ = 0, pair_ = 0;
  bool fragment_ = false, physical_addresses_ = false, explicit_workgroup_ = false;
  void demand_float_modes(Id main);

  uint32_t denormals_of_ = 0, special_of_ = 0;
  Words capabilities_, decorations_, types_, modes_, interface_, exact_;
  std::array<Id, 9> scalar_{};
  std::unordered_map<uint32_t, Id> specialized_;
  std::unordered_map<uint64_t, Id> derived_, constants_;
  std::array<std::unordered_map<uint64_t, Id>, 2> wide_constants_;  // u64, f64
  std::unordered_map<uint32_t, Id> built_ins_;
  std::vector<std::pair<std::vector<Id>, Id>> function_types_;
  std::vector<uint32_t> declared_;
};

}  // namespace orrery::shader::spirv
