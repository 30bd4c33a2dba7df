#include <fmt/format.h>

#include "gpu-service/vulkan/instance.hpp"
#include "gpu-service/vulkan/physical_device.hpp"

namespace orrery::vulkan {
namespace {

std::string api_text(uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

const char* name_of(DeviceType type) {
  switch (type) {
    case DeviceType::discrete:
      return "discrete";
    case DeviceType::integrated:
      return "integrated";
    case DeviceType::virtual_gpu:
      return "virtual";
    case DeviceType::other:
      return "other";
    case DeviceType::cpu:
      return "cpu";
  }
  return "other";
}

Result<std::vector<DeviceFacts>> list_devices() {
  auto instance = Instance::create({});
  if (!instance) {
    if (instance.error().code == ExitCode::no_device) return std::vector<DeviceFacts>{};
    return std::unexpected(std::move(instance.error()));
  }
  auto all = candidates((*instance)->handle());
  if (!all) return std::unexpected(std::move(all.error()));
  std::vector<DeviceFacts> facts;
  for (auto& candidate : *all) facts.push_back(std::move(candidate.facts));
  return facts;
}

std::string devices_text(const std::vector<DeviceFacts>& devices) {
  if (devices.empty()) return "no Vulkan device (install your GPU's driver, or mesa-vulkan-drivers for the CPU)\n";
  std::string out;
  for (const auto& d : devices) {
    out +=
        fmt::format("{}  {} [{}]  {}  Vulkan {}", d.index, d.name, name_of(d.type), d.driver, api_text(d.api_version));
    if (d.usable()) {
      out += d.min_subgroup_size == d.max_subgroup_size
                 ? fmt::format("  subgroup {}", d.max_subgroup_size)
                 : fmt::format("  subgroup {} to {}", d.min_subgroup_size, d.max_subgroup_size);
      out += d.import_alignment != 0 ? "  imports host memory\n" : "  no import of host memory\n";
    } else {
      out += fmt::format("  not usable: lacks {}\n", fmt::join(d.missing, ", "));
    }
  }
  return out;
}

std::string devices_json(const std::vector<DeviceFacts>& devices) {
  std::vector<std::string> items;
  for (const auto& d : devices) {
    std::vector<std::string> missing;
    for (const auto& m : d.missing) missing.push_back(quoted(m));
    items.push_back(fmt::format(
        R"({{"index":{},"name":{},"driver":{},"type":"{}","api":"{}","subgroup":[{},{}],"imports":{},"usable":{},"missing":[{}]}})",
        d.index, quoted(d.name), quoted(d.driver), name_of(d.type), api_text(d.api_version), d.min_subgroup_size,
        d.max_subgroup_size, d.import_alignment != 0, d.usable(), fmt::join(missing, ",")));
  }
  return fmt::format("[{}]\n", fmt::join(items, ","));
}

}  // namespace orrery::vulkan
