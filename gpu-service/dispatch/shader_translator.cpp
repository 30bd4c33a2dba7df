#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/dispatch/program_cache.hpp"

namespace orrery::dispatch {

Translator shader_translator() {
  return {[](const shader::CodeFetch& fetch) { return shader::read_program(fetch); },
          [](const shader::Program& program, const shader::TranslateOptions& options) {
            return shader::translate(program, options);
          }};
}

Result<std::unique_ptr<DispatchExecutor>> DispatchExecutor::create(const vulkan::Device& device,
                                                                   memory::GuestMemory& memory,
                                                                   const ExecutorOptions& options) {
  return create(device, memory, options, shader_translator());
}

}  // namespace orrery::dispatch
