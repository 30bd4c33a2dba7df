// Programs by address, and their translations as pipelines. A program's words are copied out of guest memory and
// compared again at every use; what was refused stays refused until the words change.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
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

// The translator's two functions, called by any thread; tests put their own in.
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
  mutable bool told = false;  // the refusal went to the user; the recording thread's
};

// What the driver made of a module, or why it refused it.
struct MadePipeline {
  vulkan::ComputePipeline pipeline;
  std::string refusal;
};
using PipelineFuture = std::shared_future<std::shared_ptr<const MadePipeline>>;

struct Translation {
  std::optional<shader::Module> module;         // without its words, unless it has images
  std::vector<shader::ShaderRefusal> refusals;  // when there is no module
  GuestAddress address;                         // where the program was first met
  std::string name;
  std::map<std::vector<uint32_t>, PipelineFuture> pipelines;  // by specialization constants; the cache's
  // The recording thread's:
  bool told = false;    // the refusals went to the user
  bool warned = false;  // that it is slow
};

// Who gets a job runs it, or lets another thread do it; `made` is ready then. Without a job it is made or under way.
struct PipelineAsk {
  PipelineFuture made;
  std::function<void()> job;
};

// For any thread. What is handed out stays whole while it is held.
class ProgramCache {
 public:
  ProgramCache(const vulkan::Device& device, Translator translator);

  // The program at `address`; null when no dword is mapped there.
  std::shared_ptr<const ReadProgram> read(const memory::GuestMemory& memory, GuestAddress address);
  // The same when it was read before and its words are still those; null otherwise.
  std::shared_ptr<const ReadProgram> known(const memory::GuestMemory& memory, GuestAddress address);
  // Do the words in memory still equal what was read? Used after work has run.
  static bool unchanged(const memory::GuestMemory& memory, const ReadProgram& program);

  // The translation, or its refusals; a driver's refusal of the module is one of the program. `program` was read, not
  // refused. Made once: who asks while another thread makes it waits.
  std::shared_ptr<Translation> translate(const ReadProgram& program, const shader::TranslateOptions& options);
  // The same when it is made already; null otherwise.
  std::shared_ptr<Translation> made(const ReadProgram& program, const shader::TranslateOptions& options);

  // The pipeline of a translation that has a module. A module without images has one, made with the translation; one
  // with images gets one for each of so many sets of constants, and what comes after them the one without constants.
  PipelineAsk pipeline(const std::shared_ptr<Translation>& translation, std::vector<uint32_t> constants);

  // What the program needs of its wave, found once for the same options; a refused one answers no needs, its
  // translation says why.
  shader::ProgramNeeds needs(const ReadProgram& program, const shader::TranslateOptions& options);
  std::optional<shader::ProgramNeeds> known_needs(const ReadProgram& program, const shader::TranslateOptions& options);

  // Forgets everything when there is far more than a title needs: code that is made anew all the time must not fill the
  // host's memory. Only while the device is idle.
  void trim();
  uint64_t translations() const;  // so far

 private:
  using Key = std::tuple<ContentHash, uint32_t, uint32_t, uint32_t, shader::LaneExchange, std::array<uint32_t, 3>,
                         uint32_t, uint32_t, bool, uint32_t, bool>;
  using Made = std::shared_future<std::shared_ptr<Translation>>;
  static Key key_of(const ReadProgram& program, const shader::TranslateOptions& options);
  std::shared_ptr<Translation> make(const ReadProgram& program, const shader::TranslateOptions& options);

  const vulkan::Device& device_;
  const Translator translator_;
  mutable std::mutex mutex_;
  std::map<GuestAddress, std::shared_ptr<const ReadProgram>> programs_;
  uint64_t instructions_ = 0;  // of all programs kept
  std::map<Key, Made> translations_;
  std::map<Key, shader::ProgramNeeds> needs_;
  uint64_t made_ = 0;
};

}  // namespace orrery::dispatch
