#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/dispatch/program_cache.hpp"
#include "gpu-service/dispatch/translation_store.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "gpu-service/vulkan/pipeline_cache.hpp"
#include "shared/measure/span.hpp"

namespace orrery::dispatch {

Translator shader_translator(std::shared_ptr<TranslationStore> store) {
  return {[](const shader::CodeFetch& fetch) { return shader::read_program(fetch); },
          [store = std::move(store)](const shader::Program& program, const shader::TranslateOptions& options)
              -> std::expected<shader::Module, std::vector<shader::ShaderRefusal>> {
            if (store) {
              if (auto kept = store->load(program, options)) {
                measure::count(measure::Counter::translations_loaded);
                return std::move(*kept);
              }
            }
            auto module = shader::translate(program, options);
            if (store && module) store->save(program, options, *module);
            return module;
          }};
}

Result<std::unique_ptr<DispatchExecutor>> DispatchExecutor::create(const vulkan::Device& device,
                                                                   memory::GuestMemory& memory,
                                                                   const ExecutorOptions& options) {
  // Beside the driver's pipeline cache, or nowhere.
  const std::filesystem::path pipelines = device.pipeline_cache().path();
  std::shared_ptr<TranslationStore> store;
  if (!pipelines.empty()) store = std::make_shared<TranslationStore>(pipelines.parent_path() / "translations");
  return create(device, memory, options, shader_translator(std::move(store)));
}

}  // namespace orrery::dispatch
