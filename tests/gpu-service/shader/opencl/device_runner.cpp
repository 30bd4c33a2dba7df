#include <stdexcept>

#include "gpu-service/dispatch/dispatch_executor.hpp"
#include "gpu-service/vulkan/device.hpp"
#include "tests/gpu-service/shader/opencl/runners.hpp"

namespace orrery::opencl {

Runner device_runner(SmallGuest& guest) {
  auto opened = vulkan::Device::open({});
  if (!opened) throw std::runtime_error(opened.error().describe());
  const std::shared_ptr<vulkan::Device> device = std::move(*opened);
  auto created = dispatch::DispatchExecutor::create(*device, guest.memory());
  if (!created) throw std::runtime_error(created.error().describe());
  const std::shared_ptr<dispatch::DispatchExecutor> executor = std::move(*created);
  return [device, executor](const Launch& launch) {
    std::vector<std::string> texts;
    if (auto acquired = executor->acquire(); !acquired) texts.push_back(acquired.error().describe());
    for (const auto& refusal : executor->dispatch(launch.state)) texts.push_back(refusal.kind + ": " + refusal.text);
    auto finished = executor->finish();
    if (!finished) throw std::runtime_error(finished.error().describe());
    for (const auto& refusal : *finished) texts.push_back(refusal.kind + ": " + refusal.text);
    return texts;
  };
}

}  // namespace orrery::opencl
