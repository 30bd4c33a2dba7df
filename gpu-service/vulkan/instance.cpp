#include "gpu-service/vulkan/instance.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gpu-service/vulkan/vulkan_result.hpp"
#include "shared/log.hpp"

namespace orrery::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr size_t kMessagesKept = 16;

bool layer_present(const char* wanted) {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::any_of(layers.begin(), layers.end(), [&](const auto& l) { return !std::strcmp(l.layerName, wanted); });
}

std::vector<VkExtensionProperties> extensions_of(const char* layer) {
  uint32_t count = 0;
  vkEnumerateInstanceExtensionProperties(layer, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateInstanceExtensionProperties(layer, &count, extensions.data());
  extensions.resize(count);
  return extensions;
}

bool contains(const std::vector<VkExtensionProperties>& extensions, const std::string& name) {
  return std::any_of(extensions.begin(), extensions.end(), [&](const auto& e) { return name == e.extensionName; });
}

}  // namespace

bool validation_asked_for() {
  const char* value = std::getenv("ORRERY_VALIDATION");
  return value != nullptr && *value != 0 && std::strcmp(value, "0") != 0;
}

VkBool32 Instance::on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                              const VkDebugUtilsMessengerCallbackDataEXT* data, void* self) {
  // The loader's own messages (a driver for absent hardware) come as "general"; they say nothing about our calls.
  if ((types & ~static_cast<uint32_t>(VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT)) == 0) {
    log::debug("vulkan loader: {}", data->pMessage);
    return VK_FALSE;
  }
  // What a driver does and does not say it can (DeviceFacts::keeps_denormals_unsaid) is asked of it by running.
  if (data->pMessageIdName != nullptr && std::strstr(data->pMessageIdName, "shaderDenormPreserveFloat32") != nullptr) {
    log::debug("validation: {}", data->pMessage);
    return VK_FALSE;
  }
  auto* instance = static_cast<Instance*>(self);
  ++instance->messages_;
  {
    const std::lock_guard lock(instance->first_mutex_);
    if (instance->first_.size() < kMessagesKept) instance->first_.emplace_back(data->pMessage);
  }
  if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) {
    log::error("validation: {}", data->pMessage);
  } else {
    log::warn("validation: {}", data->pMessage);
  }
  return VK_FALSE;
}

Result<std::unique_ptr<Instance>> Instance::create(const InstanceOptions& options) {
  std::vector<VkExtensionProperties> offered = extensions_of(nullptr);
  std::vector<const char*> layers;
  if (options.validation) {
    if (!layer_present(kValidationLayer)) {
      return fail(ExitCode::usage,
                  "validation is asked for, but {} is not installed (Debian: vulkan-validationlayers); unset "
                  "ORRERY_VALIDATION to run without",
                  kValidationLayer);
    }
    layers.push_back(kValidationLayer);
    for (const auto& extension : extensions_of(kValidationLayer)) offered.push_back(extension);
  }
  std::vector<const char*> extensions;
  for (const auto& name : options.extensions) {
    if (!contains(offered, name)) {
      return fail(ExitCode::usage, "the Vulkan loader does not offer {}, which the window needs; try --headless", name);
    }
    extensions.push_back(name.c_str());
  }
  std::unique_ptr<Instance> instance(new Instance);
  instance->window_extensions_ = options.extensions;
  instance->debug_utils_ = contains(offered, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  if (instance->debug_utils_) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);

  VkDebugUtilsMessengerCreateInfoEXT messenger{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = &Instance::on_message;
  messenger.pUserData = instance.get();

  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "orrery-gpu";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  info.enabledLayerCount = static_cast<uint32_t>(layers.size());
  info.ppEnabledLayerNames = layers.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const bool messages = options.validation && instance->debug_utils_;
  if (messages) info.pNext = &messenger;
  const VkResult result = vkCreateInstance(&info, nullptr, &instance->handle_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    return fail(ExitCode::no_device,
                "no Vulkan driver is installed; install your GPU's, or Debian's mesa-vulkan-drivers for the CPU");
  }
  if (result != VK_SUCCESS) return forward(Result<void>(vulkan_error(result, "vkCreateInstance")), "starting Vulkan");
  if (messages) {
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance->handle_, "vkCreateDebugUtilsMessengerEXT"));
    if (create != nullptr) create(instance->handle_, &messenger, nullptr, &instance->messenger_);
  }
  return instance;
}

std::vector<std::string> Instance::first_validation_messages() const {
  const std::lock_guard lock(first_mutex_);
  return first_;
}

Instance::~Instance() {
  if (handle_ == VK_NULL_HANDLE) return;
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(handle_, "vkDestroyDebugUtilsMessengerEXT"));
    if (destroy != nullptr) destroy(handle_, messenger_, nullptr);
  }
  vkDestroyInstance(handle_, nullptr);
}

}  // namespace orrery::vulkan
