// Which host code serves which import. Filled once before the title is loaded, only read afterwards.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "guest-host/cpu/call_frame.hpp"
#include "guest-host/hle/arguments.hpp"
#include "guest-host/hle/nid.hpp"

namespace orrery::hle {

// The console's error numbers: 0x80020000 + FreeBSD errno, as functions of libkernel return them (guest-abi.md 7, T2).
constexpr int32_t kernel_error(int freebsd_errno) {
  return static_cast<int32_t>(0x80020000u + static_cast<uint32_t>(freebsd_errno));
}
// FreeBSD errno values, where they are needed.
enum FreebsdErrno : int {
  kEperm = 1,
  kEnoent = 2,
  kEsrch = 3,
  kEintr = 4,
  kEio = 5,
  kEbadf = 9,
  kEdeadlk = 11,
  kEnomem = 12,
  kEacces = 13,
  kEfault = 14,
  kEbusy = 16,
  kEexist = 17,
  kEinval = 22,
  kEagain = 35,
  kEtimedout = 60,
  kEnosys = 78,
};

// An exception that reached the edge of a handler: reported under the import's name, answered as ENOMEM.
void report_handler_exception(const cpu::CallFrame& frame, const char* what);

// Guest-visible data that a title imports by name (__stack_chk_guard).
struct ImportedData {
  std::string library;
  std::string name;
  std::vector<std::byte> initial;
};

class Registry {
 public:
  // Serves `name` of `library` by `handler`: any callable whose parameters are integers, enums, pointers, GuestAddress,
  // float or double, as the guest's prototype has them; also CallFrame& (the call itself, takes no argument) and, last,
  // VariableArguments. It returns one such value or nothing. It runs on the host's stack and thread pointer, and may
  // block. Pointers are guest addresses, unchecked: a fault on one is reported as the title's, under the import's name.
  template <class F>
  void add(std::string_view library, std::string_view name, F handler) {
    add_binding(make_binding(library, name, std::move(handler)), nid_of(name));
  }
  // For imports of which only the NID is known.
  template <class F>
  void add_nid(std::string_view library, std::string_view nid, std::string_view name, F handler) {
    add_binding(make_binding(library, name, std::move(handler)), std::string(nid));
  }
  void add_data(std::string_view library, std::string_view name, std::vector<std::byte> initial);

  // The binding of a NID; the library's own first, any library's otherwise (binding by NID alone works in practice,
  // guest-abi.md 1.4). nullptr when nobody serves it.
  cpu::ImportBinding* find(std::string_view library, std::string_view nid) const;
  cpu::ImportBinding* find_name(std::string_view name) const { return find({}, nid_of(name)); }
  const ImportedData* find_data(std::string_view nid) const;
  const std::map<std::string, ImportedData, std::less<>>& data() const { return data_; }
  size_t size() const { return bindings_.size(); }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [nid, binding] : bindings_) visit(*binding);
  }

 private:
  template <class F, class R, class... A>
  struct Handler : cpu::ImportBinding {
    F function;
    explicit Handler(F f) : function(std::move(f)) { invoke = &run; }
    static void run(cpu::CallFrame* frame) noexcept {
      auto* self = static_cast<Handler*>(frame->binding);
      frame->result = 0;
      try {
        ArgumentReader reader(*frame);
        // Braces: the arguments are read in order.
        std::tuple<A...> arguments{reader.next<A>()...};
        if constexpr (std::is_void_v<R>) {
          std::apply(self->function, std::move(arguments));
        } else {
          store_result<R>(*frame, std::apply(self->function, std::move(arguments)));
        }
      } catch (const std::exception& e) {
        report_handler_exception(*frame, e.what());
        frame->result = static_cast<uint64_t>(static_cast<int64_t>(kernel_error(kEnomem)));
      }
    }
  };
  template <class F, class R, class... A>
  static std::shared_ptr<cpu::ImportBinding> wrap(F f, R (F::*)(A...) const) {
    return std::make_shared<Handler<F, R, A...>>(std::move(f));
  }
  template <class F, class R, class... A>
  static std::shared_ptr<cpu::ImportBinding> wrap(F f, R (F::*)(A...)) {
    return std::make_shared<Handler<F, R, A...>>(std::move(f));
  }
  template <class R, class... A>
  static std::shared_ptr<cpu::ImportBinding> wrap(R (*f)(A...)) {
    return std::make_shared<Handler<R (*)(A...), R, A...>>(f);
  }
  template <class F>
  static std::shared_ptr<cpu::ImportBinding> make_binding(std::string_view library, std::string_view name, F handler) {
    std::shared_ptr<cpu::ImportBinding> binding;
    if constexpr (std::is_class_v<F>) {
      binding = wrap(std::move(handler), &F::operator());
    } else {
      binding = wrap(handler);
    }
    binding->library = library;
    binding->name = name;
    return binding;
  }
  // Ends the program on a second handler for the same import: our own bug.
  void add_binding(std::shared_ptr<cpu::ImportBinding> binding, std::string nid);

  std::unordered_multimap<std::string, std::shared_ptr<cpu::ImportBinding>> bindings_;  // by NID
  std::map<std::string, ImportedData, std::less<>> data_;                               // by NID
};

}  // namespace orrery::hle
