#include "guest-host/hle/registry_binder.hpp"

#include "guest-host/cpu/guest_thread.hpp"
#include "shared/log.hpp"

namespace orrery::hle {

namespace {

constexpr uint64_t kDataRoom = 1 << 20;

struct RefusedImport : cpu::ImportBinding {
  cpu::GuestProcess* process = nullptr;
  bool strict = false;
};

// What an import that nobody implements does when it is called.
void refuse_call(cpu::CallFrame* frame) {
  auto& import = *static_cast<RefusedImport*>(frame->binding);
  const std::string what =
      import.library.empty() ? "import " + import.name : fmt::format("import {} of {}", import.name, import.library);
  const std::string from = import.process->describe(GuestAddress{frame->guest_return});
  if (import.strict) {
    log::error("{} is not implemented; called from {}; the run ends here (--strict-imports)", what, from);
    import.process->end_and_wait({static_cast<int>(ExitCode::unresolved_import)});
  }
  import.process->refusals().refuse(what, fmt::format("not implemented, called from {}; answered ENOSYS", from));
  frame->result = static_cast<uint64_t>(static_cast<int64_t>(kernel_error(kEnosys)));
}

}  // namespace

Result<std::unique_ptr<ImportBinder>> ImportBinder::create(const Registry& registry, cpu::GuestProcess& process,
                                                           bool strict) {
  auto stubs = cpu::StubArea::create(process.policy());
  if (!stubs) return std::unexpected(std::move(stubs.error()));
  return std::unique_ptr<ImportBinder>(new ImportBinder(registry, process, strict, std::move(*stubs)));
}

Result<uint64_t> ImportBinder::data_address(const ImportedData& data) {
  if (const auto known = data_.find(&data); known != data_.end()) return known->second;
  auto& memory = process_.memory();
  if (data_page_.value == 0) {
    auto page = memory.map({.kind = memory::MapKind::heap, .size = {kDataRoom}, .name = "imported data"});
    if (!page) return forward(std::move(page), "making room for imported data");
    data_page_ = *page;
  }
  const uint64_t at = align_up(data_used_, 16);
  if (at + data.initial.size() > kDataRoom) {
    return fail(ExitCode::internal, "no room for the imported data {}", data.name);
  }
  data_used_ = at + data.initial.size();
  const GuestAddress place = data_page_ + Bytes{at};
  ORRERY_TRY(memory.write(place, data.initial));
  data_[&data] = place.value;
  return place.value;
}

// 0 when nobody provides it.
Result<uint64_t> ImportBinder::provided(const std::string& library, const std::string& nid) {
  if (auto* const binding = registry_.find(library, nid)) {
    if (const auto known = bound_.find(binding); known != bound_.end()) return known->second;
    auto stub = stubs_->add(*binding);
    if (stub) bound_[binding] = *stub;
    return stub;
  }
  if (const auto* const data = registry_.find_data(nid)) return data_address(*data);
  return 0;
}

Result<uint64_t> ImportBinder::bind_as(const std::string& library, const std::string& nid, std::string_view name,
                                       bool weak) {
  const std::lock_guard lock(mutex_);
  auto address = provided(library, nid);
  if (!address || *address != 0) return address;
  if (const auto known = refused_.find(nid); known != refused_.end()) return known->second;
  if (weak) {
    absent_.emplace_back(name);
    log::info("the weak import {} is provided by nobody and stays null", name);
    return 0;
  }
  auto refusal = std::make_shared<RefusedImport>();
  refusal->invoke = refuse_call;
  refusal->library = library;
  refusal->name = name;
  refusal->process = &process_;
  refusal->strict = strict_;
  auto stub = stubs_->add(*refusal);
  if (!stub) return stub;
  log::info("the import {} of {} is not implemented", name, library.empty() ? "any library" : library);
  refusals_.push_back(std::move(refusal));
  refused_[nid] = *stub;
  return stub;
}

Result<uint64_t> ImportBinder::bind(const std::string& library, const std::string& nid, bool weak) {
  return bind_as(library, nid, known_name(nid).value_or(nid), weak);
}

Result<uint64_t> ImportBinder::bind_name(const std::string& name, bool weak) {
  return bind_as({}, nid_of(name), name, weak);
}

Result<uint64_t> ImportBinder::find_name(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return provided({}, nid_of(name));
}

std::vector<std::string> ImportBinder::absent() const {
  const std::lock_guard lock(mutex_);
  return absent_;
}

}  // namespace orrery::hle
