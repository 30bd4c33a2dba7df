#include <algorithm>
#include <vector>

#include "guest-host/cpu/guest_thread.hpp"
#include "guest-host/hle/kernel/library.hpp"
#include "guest-host/hle/registry_binder.hpp"
#include "shared/log.hpp"
#include "shared/plain_file.hpp"

namespace orrery::hle::kernel {

namespace {

constexpr int32_t kProcessId = 2;

// A copy first: the host's write would answer EFAULT after half of it.
int64_t write_file(Environment& env, int file, GuestAddress data, uint64_t size, bool as_errno) {
  const auto error = [&](int code) -> int64_t {
    if (!as_errno) return kernel_error(code);
    if (auto* const thread = cpu::GuestThread::current()) {
      [[maybe_unused]] const auto stored = env.memory.write_value(thread->error_address(), int32_t{code});
    }
    return -1;
  };
  if (file != 1 && file != 2) return error(kEbadf);
  constexpr uint64_t kPiece = 1 << 20;
  std::vector<std::byte> piece;
  for (uint64_t done = 0; done < size; done += piece.size()) {
    piece.resize(std::min(size - done, kPiece));
    if (!env.memory.read_settled(data + Bytes{done}, piece)) return error(kEfault);
    if (!write_all(file, piece)) return error(kEio);
  }
  return static_cast<int64_t>(size);
}

struct TlsIndex {
  uint64_t module;
  uint64_t offset;
};

}  // namespace

void add_process_functions(Registry& registry, Environment& env) {
  constexpr std::string_view kLibrary = "libkernel";
  registry.add(kLibrary, "sceKernelWrite",
               [&env](int file, GuestAddress data, uint64_t size) { return write_file(env, file, data, size, false); });
  registry.add(kLibrary, "write",
               [&env](int file, GuestAddress data, uint64_t size) { return write_file(env, file, data, size, true); });
  registry.add(kLibrary, "sceKernelDebugOutText", [&env](int, GuestAddress text) -> int32_t {
    const auto read = env.memory.read_string(text, 1 << 16);
    if (!read) return kernel_error(kEfault);
    return write_all(1, std::as_bytes(std::span(*read))) ? 0 : kernel_error(kEio);
  });
  registry.add(kLibrary, "_exit", [&env](int code) { env.process.exit_title(code); });
  registry.add(kLibrary, "__error", [] {
    auto* const thread = cpu::GuestThread::current();
    return thread == nullptr ? GuestAddress{} : thread->error_address();
  });
  registry.add(kLibrary, "getpid", [] { return kProcessId; });
  registry.add(kLibrary, "sceKernelGetProcParam", [&env] { return env.process_parameters; });
  // One executable, so one module: its block lies at a fixed distance below the thread pointer.
  registry.add(kLibrary, "__tls_get_addr", [&env](const TlsIndex* index) -> GuestAddress {
    if (index->module != 1) {
      env.refusals.refuse("__tls_get_addr of another module", fmt::format("module {}", index->module));
      return {};
    }
    const uint64_t pointer = cpu::GuestThread::current()->thread_pointer().value;
    return {pointer - env.process.tls().distance + index->offset};
  });
  registry.add(kLibrary, "__stack_chk_fail", [&env](cpu::CallFrame& frame) {
    log::error("the title overran a buffer on its stack (stack protector) in {}",
               env.process.describe(GuestAddress{frame.guest_return}));
    env.process.end_and_wait({static_cast<int>(ExitCode::guest_fault)});
  });
  registry.add(kLibrary, "sceKernelDlsym", [&env](int, GuestAddress name, GuestAddress out) -> int32_t {
    const auto text = env.memory.read_string(name);
    if (!text) return kernel_error(kEfault);
    const auto address = env.binder->find_name(*text);
    if (!address || *address == 0) return kernel_error(kEsrch);
    return env.memory.write_value(out, *address) ? 0 : kernel_error(kEfault);
  });
  registry.add(kLibrary, "sceKernelLoadStartModule", [&env](GuestAddress path) -> int32_t {
    const auto text = env.memory.read_string(path);
    env.refusals.refuse("loading of further modules", text ? *text : "a path that cannot be read");
    return kernel_error(kEnoent);
  });
  const uint64_t guard = env.process.stack_guard();
  const auto bytes = std::as_bytes(std::span(&guard, 1));
  registry.add_data(kLibrary, "__stack_chk_guard", {bytes.begin(), bytes.end()});
}

}  // namespace orrery::hle::kernel
