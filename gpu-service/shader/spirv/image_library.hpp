// The functions of shader/image, compiled from GLSL when the project is built, put into modules that call them.
#pragma once

#include "gpu-service/shader/spirv/emitter.hpp"

namespace orrery::shader::spirv {

// Copies functions into one module, each once with all that it calls. Float arithmetic is never contracted.
class ImageLibrary {
 public:
  explicit ImageLibrary(Emitter& emitter);
  // void f(...) or T f(...); names as in library.comp.
  Id function(std::string_view name);

 private:
  Id function(Id theirs);
  void copy_function(Id theirs);
  Id mapped(Id theirs);
  Id type_or_constant(Id theirs);
  Id type(std::span<const uint32_t> words);
  Id constant(std::span<const uint32_t> words);
  // What memory.glsl declares; 0: no such function.
  Id provided(std::string_view name);
  Id write_function(Id result, std::initializer_list<Id> parameters, auto body);
  Id holds(Id bytes, uint32_t least);
  Emitter::Results load_at(Id at, Id bytes);
  void store_at(Id at, Id bytes, const Emitter::Results& data);
  // at(device address) where the guest address p[0] is mapped; else an escape, and zeros.
  template <class At>
  Emitter::Results reach(const std::vector<Id>& p, Id where, bool stores, uint32_t results, At at);
  Id load_element();
  Id store_element();
  Id refuse();
  Id count_round();

  Emitter& e;
  Module& m;
  std::vector<Id> ours_;  // by their id
  std::vector<Id> open_;  // functions that are called and not copied yet
};

}  // namespace orrery::shader::spirv
