// Translations kept on disk between lives: one file each, named by its key, published by rename. Beside the driver's
// pipeline cache (vulkan/pipeline_cache.hpp), so that a second start of a title translates nothing.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "gpu-service/shader/translate.hpp"
#include "shared/content_hash.hpp"

namespace orrery::dispatch {

// Everything a module depends on: the program's decoded extent, the options with the layout, and the translator's
// build.
std::vector<std::byte> translation_key(const shader::Program& program, const shader::TranslateOptions& options,
                                       ContentHash build);
// Of the running program: its linker's build id, so that no other build's translations are taken.
ContentHash translator_build();

// For any thread.
class TranslationStore {
 public:
  static constexpr uint64_t kMostBytes = 256ull << 20;
  // `directory` may be empty: nothing is kept. It is made when something is.
  explicit TranslationStore(std::filesystem::path directory, ContentHash build = translator_build(),
                            uint64_t most_bytes = kMostBytes);

  // Nothing when there is none, or when the file is damaged, cut off, another build's or no plain file (a log line says
  // so). Never waits.
  std::optional<shader::Module> load(const shader::Program& program, const shader::TranslateOptions& options);
  // Failures are logged once: a cache is no one's duty.
  void save(const shader::Program& program, const shader::TranslateOptions& options, const shader::Module& module);

  uint64_t loaded() const { return loaded_; }
  uint64_t saved() const { return saved_; }
  std::filesystem::path path_of(const shader::Program& program, const shader::TranslateOptions& options) const;

 private:
  std::filesystem::path path_of_key(std::span<const std::byte> key) const;
  void keep_within_bounds();

  std::filesystem::path directory_;
  ContentHash build_;
  uint64_t most_bytes_;
  uint64_t held_ = 0;  // bytes in the directory, as far as known
  bool counted_ = false;
  std::mutex keeping_;  // held_ and counted_
  std::atomic<bool> failed_ = false;
  std::atomic<uint64_t> loaded_ = 0, saved_ = 0;
};

}  // namespace orrery::dispatch
