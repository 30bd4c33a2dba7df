// Gives every import of a title an address: the stub of its handler, its data, or the stub of a refusal with its name.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "guest-host/cpu/guest_process.hpp"
#include "guest-host/cpu/stub_area.hpp"
#include "guest-host/hle/registry.hpp"

namespace orrery::hle {

class ImportBinder {
 public:
  // `strict`: a call of an import that nobody implements ends the run with ExitCode::unresolved_import.
  static Result<std::unique_ptr<ImportBinder>> create(const Registry& registry, cpu::GuestProcess& process,
                                                      bool strict);

  // By identifier; the library's own provider first.
  Result<uint64_t> bind(const std::string& library, const std::string& nid, bool weak);
  // By plain name, over all libraries.
  Result<uint64_t> bind_name(const std::string& name, bool weak);
  // The address of something that exists; 0 when nobody provides it (sceKernelDlsym).
  Result<uint64_t> find_name(const std::string& name);
  // Weak imports that stayed null, for reports.
  std::vector<std::string> absent() const;

 private:
  ImportBinder(const Registry& registry, cpu::GuestProcess& process, bool strict, std::unique_ptr<cpu::StubArea> stubs)
      : registry_(registry), process_(process), strict_(strict), stubs_(std::move(stubs)) {}
  Result<uint64_t> bind_as(const std::string& library, const std::string& nid, std::string_view name, bool weak);
  Result<uint64_t> provided(const std::string& library, const std::string& nid);
  Result<uint64_t> data_address(const ImportedData& data);

  const Registry& registry_;
  cpu::GuestProcess& process_;
  bool strict_;
  std::unique_ptr<cpu::StubArea> stubs_;
  mutable std::mutex mutex_;
  std::map<const cpu::ImportBinding*, uint64_t> bound_;
  std::map<std::string, uint64_t> refused_;  // by identifier
  std::vector<std::shared_ptr<cpu::ImportBinding>> refusals_;
  std::vector<std::string> absent_;
  std::map<const ImportedData*, uint64_t> data_;
  GuestAddress data_page_;
  uint64_t data_used_ = 0;
};

}  // namespace orrery::hle
