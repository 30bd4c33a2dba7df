// Programs by address, and their translations as pipelines. A program's words are copied out of guest memory and
// compared again at every use; what was refused stays refused until the words change.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "gpu-service/memory/guest_memory.hpp"
#include "gpu-service/shader/translate.hpp"
#include "gpu-service/vulkan/compute_pipeline.hpp"

namespace orrery::vulkan {
class Device;
}

namespace orrery::dispatch {

// The translator's two functions; tests put their own in.
struct Translator {
  std::function<std::expected<shader::Program, shader::ShaderRefusal>(const shader::CodeFetch&)> read;
  std::function<std::expected<shader::Module, std::vector<shader::ShaderRefusal>>(const shader::Program&,
                                                                                  const shader::TranslateOptions&)>
      translate;
};
class TranslationStore;
// The real one: shader/translate.hpp for gfx1013; with a store, translations are kept there.
Translator shader_translator(std::shared_ptr<TranslationStore> store = nullptr);

struct ReadProgram {
  GuestAddress address;
  uint64_t mapped = 0;  // bytes of code that were mapped from there, at most kMaxProgramBytes
  uint64_t copied = 0;  // bytes that reading it looked at
  ContentHash content;  // of the copied bytes
  std::expected<std::shared_ptr<const shader::Program>, shader::ShaderRefusal> program;
  mutable bool told = false;  // the refusal went to the user
};

struct Translation {
  std::optional<shader::Module> module;         // without its words, which the pipeline has
  std::vector<shader::ShaderRefusal> refusals;  // when there is no module
  vulkan::ComputePipeline pipeline;
  bool told = false;    // the refusals went to the user
  bool warned = false;  // that it is slow
};

class ProgramCache {
 public:
  ProgramCache(const vulkan::Device& device, const memory::GuestMemory& memory, Translator translator);

  // The program at `address`; null when no dword is mapped there.
  std::shared_ptr<const ReadProgram> read(GuestAddress address);
  // Do the words in memory still equal what was read? Used after work has run.
  bool unchanged(const ReadProgram& program) const;
  // The translation, or its refusals; a driver's refusal of the module is one of the program. `program` was read, not
  // refused.
  Translation& translate(const ReadProgram& program, const shader::TranslateOptions& options);

  // What the program needs of its wave, found once for the same options; a refused one answers no needs, its
  // translation says why.
  shader::ProgramNeeds needs(const ReadProgram& program, const shader::TranslateOptions& options);

  // Forgets everything when there is far more than a title needs: code that is made anew all the time must not fill the
  // host's memory. Only while the device is idle; references to translations end.
  void trim();
  uint64_t translations() const { return made_; }  // so far

 private:
  using Key = std::tuple<ContentHash, uint32_t, uint32_t, uint32_t, shader::LaneExchange, std::array<uint32_t, 3>,
                         uint32_t, uint32_t, bool, uint32_t, bool>;
  static Key key_of(const ReadProgram& program, const shader::TranslateOptions& options);

  const vulkan::Device& device_;
  const memory::GuestMemory& memory_;
  Translator translator_;
  std::map<GuestAddress, std::shared_ptr<const ReadProgram>> programs_;
  uint64_t instructions_ = 0;  // of all programs kept
  std::map<Key, std::unique_ptr<Translation>> translations_;
  std::map<Key, shader::ProgramNeeds> needs_;
  uint64_t made_ = 0;
};

}  // namespace orrery::dispatch
