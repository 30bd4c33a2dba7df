#include "guest-host/hle/registry.hpp"

#include <cstdlib>

#include "shared/log.hpp"

namespace orrery::hle {

void report_handler_exception(const cpu::CallFrame& frame, const char* what) {
  log::error("{}: {} failed inside its handler: {}", frame.binding->library, frame.binding->name, what);
}

void Registry::add_binding(std::shared_ptr<cpu::ImportBinding> binding, std::string nid) {
  const auto [first, last] = bindings_.equal_range(nid);
  for (auto it = first; it != last; ++it) {
    if (it->second->library == binding->library) {
      log::critical("{} of {} has two handlers", binding->name, binding->library);
      std::abort();
    }
  }
  bindings_.emplace(std::move(nid), std::move(binding));
}

void Registry::add_data(std::string_view library, std::string_view name, std::vector<std::byte> initial) {
  data_[nid_of(name)] = {std::string(library), std::string(name), std::move(initial)};
}

cpu::ImportBinding* Registry::find(std::string_view library, std::string_view nid) const {
  const auto [first, last] = bindings_.equal_range(std::string(nid));
  for (auto it = first; it != last; ++it) {
    if (it->second->library == library) return it->second.get();
  }
  return first == last ? nullptr : first->second.get();
}

const ImportedData* Registry::find_data(std::string_view nid) const {
  const auto it = data_.find(nid);
  return it == data_.end() ? nullptr : &it->second;
}

}  // namespace orrery::hle
